//! Several refusals of one file as one error.

use trgen::catalog::{ErrorKind, SpecError};

/// One error with all of `refusals`, in their order; the only one as it is.
pub(super) fn together(mut refusals: Vec<SpecError>) -> SpecError {
    if refusals.len() == 1
        && let Some(only) = refusals.pop()
    {
        return only;
    }
    let listed = |lines: Vec<String>| lines.into_iter().map(|line| format!("\n  {line}")).collect::<String>();
    let reasons = listed(refusals.iter().map(ToString::to_string).collect());
    let remedies = listed(refusals.iter().map(|refusal| refusal.remedy().to_string()).collect());
    let kind = refusals.first().map_or(ErrorKind::Unsupported, SpecError::kind);
    let count = refusals.len();
    SpecError::new(kind, format!("{count} words cannot be taken:{reasons}"), format!("in the same order:{remedies}"))
}
