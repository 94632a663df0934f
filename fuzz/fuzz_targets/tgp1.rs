//! Any stream of bytes as frames of TGP/1: whatever is read is written and read again as the same.
#![no_main]

use adapters::codec::Codec;
use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use tokio_util::codec::Decoder;

fuzz_target!(|bytes: &[u8]| {
    let (mut reader, mut writer, mut again) = (Codec::default(), Codec::default(), Codec::default());
    let mut stream = BytesMut::from(bytes);
    while let Ok(Some(frame)) = reader.decode(&mut stream) {
        let mut written = BytesMut::new();
        writer.put(frame.endpoint, frame.time, &frame.body, &mut written);
        let read = again.decode(&mut written).expect("what was written is a frame").expect("and a whole one");
        assert_eq!((read.endpoint, read.time, read.body), (frame.endpoint, frame.time, frame.body));
    }
});
