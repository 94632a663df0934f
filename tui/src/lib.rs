//! Will hold the live dashboard: a view model of plain data, and widgets that are pure functions of it. It will know no
//! simulator; `fsin` fills the view model. Nothing is here yet.
