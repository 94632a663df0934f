//! CRC-32 (polynomial of IEEE 802.3, reflected), eight bytes at a time.

const POLYNOMIAL: u32 = 0xEDB8_8320;

const TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ POLYNOMIAL } else { value >> 1 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = before >> 8 ^ tables[0][(before & 0xFF) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

/// Checksum of the concatenated parts.
pub(super) fn of(parts: &[&[u8]]) -> u32 {
    !parts.iter().fold(!0, |sum, part| update(sum, part))
}

fn update(mut sum: u32, bytes: &[u8]) -> u32 {
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let low = sum ^ u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        sum = TABLES[7][(low & 0xFF) as usize]
            ^ TABLES[6][(low >> 8 & 0xFF) as usize]
            ^ TABLES[5][(low >> 16 & 0xFF) as usize]
            ^ TABLES[4][(low >> 24) as usize]
            ^ TABLES[3][word[4] as usize]
            ^ TABLES[2][word[5] as usize]
            ^ TABLES[1][word[6] as usize]
            ^ TABLES[0][word[7] as usize];
    }
    words.remainder().iter().fold(sum, |sum, &byte| sum >> 8 ^ TABLES[0][((sum ^ u32::from(byte)) & 0xFF) as usize])
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_published_check_value() {
        assert_eq!(super::of(&[b"1234", b"56789"]), 0xCBF4_3926);
        assert_eq!(super::of(&[b"123456789123456789"]), super::of(&[b"1", b"23456789123456789"]));
    }
}
