//! The grammar of component expressions.

use proptest::prelude::*;
use trgen::catalog::{Component, Parameter, SpecError};
use trgen::synthetic::expr::{Argument, Call, Expr};
use trgen::synthetic::{Config, Traffic};

fn what(text: &str) -> String {
    Expr::parse(text).unwrap_err().to_string()
}

#[test]
fn reads_names_arguments_and_keys() {
    let expr = Expr::parse(" hotspot ( 0.02 , 0,  17 )").unwrap();
    assert_eq!((expr.name.as_str(), expr.position, expr.arguments.len()), ("hotspot", 1, 3));
    assert_eq!(expr.arguments[0].value.number(), Some(0.02));
    assert_eq!((expr.arguments[2].value.integer(), expr.arguments[2].value.position), (Some(17), 22));

    let expr = Expr::parse("all-to-all:tasks=64,bytes=4096").unwrap();
    assert_eq!(expr.arguments[1].key, Some(("bytes".to_owned(), 20)));
    assert_eq!(expr.to_string(), "all-to-all(tasks=64,bytes=4096)");

    assert_eq!(Expr::parse("uniform()").unwrap().arguments, []);
}

#[test]
fn a_colon_within_parentheses_takes_one_argument() {
    let expr = Expr::parse("mix(0.9:uniform,0.1:hotspot(0.02,0))").unwrap();
    let shares: Vec<_> = expr.arguments.iter().map(|a| a.value.name.as_str()).collect();
    assert_eq!(shares, ["0.9", "0.1"]);
    assert_eq!(expr.arguments[1].value.arguments[0].value.to_string(), "hotspot(0.02,0)");
}

#[test]
fn numbers_are_words_that_read_as_one() {
    let number = |text| Expr::parse(text).unwrap().number();
    assert_eq!(number("1e-3"), Some(0.001));
    assert_eq!(number("-.5"), Some(-0.5));
    assert_eq!(number("inf"), None);
    assert_eq!(number("nan"), None);
    assert_eq!(number("1e999"), None);
    assert_eq!(number("8x8"), None);
    let integer = |text| Expr::parse(text).unwrap().integer();
    assert_eq!(integer("1e6"), Some(1_000_000));
    assert_eq!(integer("9007199254740993"), Some(9_007_199_254_740_993));
    assert_eq!(integer("1.5"), None);
    assert_eq!(integer("1e300"), None);
}

#[test]
fn semicolons_quotations_and_signs() {
    let expr = Expr::parse("polynomial(1, 0.5; 4, max=64)").unwrap();
    let after: Vec<bool> = expr.arguments.iter().map(|argument| argument.after_semicolon).collect();
    assert_eq!(after, [false, false, true, false]);
    let expr = Expr::parse("matrix(\"my (old) file.txt\")").unwrap();
    assert_eq!(expr.arguments[0].value.word(), Some("my (old) file.txt"));
    assert_eq!(expr.to_string(), "matrix(\"my (old) file.txt\")");
    assert_eq!(what("f(\"a)"), "the quotation never ends\n  f(\"a)\n    ^");
    // A plus belongs to a number only at its beginning or in its exponent.
    assert_eq!(Expr::parse("f(+1.5e+3)").unwrap().arguments[0].value.number(), Some(1500.0));
    assert_eq!(what("one+two"), "expected the end, found `+`\n  one+two\n     ^");
    assert_eq!(what("a@10"), "expected the end, found `@`\n  a@10\n   ^");
}

#[test]
fn errors_point_at_the_place() {
    assert_eq!(what("uniform(0.1,"), "expected a name or a number, found the end\n  uniform(0.1,\n              ^");
    assert_eq!(what("a b"), "expected the end, found `b`\n  a b\n    ^");
    assert_eq!(what(""), "expected a name or a number, found the end\n  \n  ^");
    // The caret counts characters, not bytes.
    assert_eq!(what("é(,"), "expected a name or a number, found `,`\n  é(,\n    ^");
    assert!(what("f(a").contains("expected `,` or `)`"));
    assert!(what(&"f(".repeat(100_000)).contains("nested too deeply"));
}

static LIST: Component = Component {
    name: "list",
    about: "for this test",
    parameters: &[
        Parameter { name: "a...", about: "numbers", range: "any", default: "" },
        Parameter { name: "min", about: "least", range: "0..", default: "3" },
        Parameter { name: "max", about: "largest", range: "0..", default: "" },
    ],
    source: "",
};

#[test]
fn a_semicolon_ends_a_list() {
    fn read(text: &str) -> Result<(Vec<i64>, i64, i64), SpecError> {
        let expr = Expr::parse(text).unwrap();
        let call = Call::bind(text, &expr, &LIST)?;
        let list: Vec<_> = call.rest().iter().map(|one| one.integer().unwrap()).collect();
        Ok((list, call.integer("min", 0..=99)?, call.integer("max", 0..=99)?))
    }
    assert_eq!(read("list(1, 2, 5; 7, 8)"), Ok((vec![1, 2, 5], 7, 8)));
    assert_eq!(read("list(1, min=7, 2, max=8)"), Ok((vec![1, 2], 7, 8)));
    assert_eq!(read("list(1; max=8)"), Ok((vec![1], 3, 8)));
    assert_eq!(read("list:4,5;6,9"), Ok((vec![4, 5], 6, 9)));
    let refused = |text| read(text).unwrap_err();
    assert!(refused("list(1; 2, 3, 4)").to_string().starts_with("`list` takes at most 3"));
    assert!(refused("list(1, 2)").to_string().starts_with("`list` needs its parameter max"));
    assert!(refused("list(1; 2, min=3)").to_string().starts_with("`min` is given twice"));
    let expr = Expr::parse("demo(1;2)").unwrap();
    assert!(Call::bind("demo(1;2)", &expr, &COMPONENT).unwrap_err().to_string().starts_with("`demo` takes no `;`"));
}

static COMPONENT: Component = Component {
    name: "demo",
    about: "for this test",
    parameters: &[
        Parameter { name: "rate", about: "a rate [1/cycle]", range: "0..=1", default: "0.5" },
        Parameter { name: "count", about: "a count", range: "1..", default: "" },
        Parameter { name: "nodes...", about: "some nodes", range: "0..", default: "" },
    ],
    source: "",
};

fn bound(text: &str, check: impl FnOnce(Call)) {
    let expr = Expr::parse(text).unwrap();
    check(Call::bind(text, &expr, &COMPONENT).unwrap());
}

#[test]
fn arguments_find_their_parameters() {
    bound("demo(count=3)", |call| {
        assert_eq!(call.number("rate", 0.0..=1.0), Ok(0.5));
        assert_eq!(call.integer("count", 1..=10), Ok(3));
    });
    bound("demo(0.25, 4, 1, 2)", |call| {
        assert_eq!(call.number("rate", 0.0..=1.0), Ok(0.25));
        assert_eq!(call.integer("count", 1..=10), Ok(4));
        let nodes: Vec<_> = call.rest().iter().map(|node| node.integer()).collect();
        assert_eq!(nodes, [Some(1), Some(2)]);
    });
    bound("demo(2, x)", |call| {
        let high = call.number("rate", 0.0..=1.0).unwrap_err();
        assert_eq!(high.to_string(), "rate = 2 is out of range\n  demo(2, x)\n       ^");
        assert_eq!(high.remedy().to_string(), "rate: a rate [1/cycle] (0..=1)");
        assert!(call.integer("count", 1..=10).unwrap_err().to_string().starts_with("`x` is not a whole number"));
    });
    bound("demo", |call| {
        assert!(call.integer("count", 1..=10).unwrap_err().to_string().starts_with("`demo` needs its parameter count"));
    });
}

#[test]
fn arguments_without_a_parameter_are_refused() {
    let refused = |text: &str, component: &'static Component| {
        let expr = Expr::parse(text).unwrap();
        Call::bind(text, &expr, component).unwrap_err()
    };
    let unknown = refused("demo(cuont=3)", &COMPONENT);
    assert_eq!(unknown.to_string(), "`demo` has no parameter `cuont`\n  demo(cuont=3)\n       ^");
    assert_eq!(unknown.remedy().to_string(), "did you mean `count`?");
    assert!(refused("demo(1,rate=2)", &COMPONENT).to_string().starts_with("`rate` is given twice"));

    static NONE: Component = Component { name: "none", about: "", parameters: &[], source: "" };
    assert!(refused("none(1)", &NONE).to_string().starts_with("`none` takes at most 0"));
    assert!(refused("none(a=1)", &NONE).to_string().starts_with("`none` has no parameter `a`"));
}

fn trees() -> impl Strategy<Value = Expr> {
    // Including words that need quotation marks.
    let leaf =
        "[a-z0-9.-]{1,6}|[a-z0-9 .+@;:(),=-]{1,6}".prop_map(|name| Expr { name, arguments: Vec::new(), position: 0 });
    leaf.prop_recursive(4, 24, 4, |inner| {
        let argument = (proptest::option::of("[a-z]{1,4}"), inner, proptest::bool::weighted(0.2)).prop_map(
            |(key, value, after_semicolon)| Argument { key: key.map(|key| (key, 0)), value, after_semicolon },
        );
        ("[a-z]{1,6}", proptest::collection::vec(argument, 1..4)).prop_map(|(name, mut arguments)| {
            arguments[0].after_semicolon = false;
            Expr { name, arguments, position: 0 }
        })
    })
}

fn without_positions(mut expr: Expr) -> Expr {
    expr.position = 0;
    for argument in &mut expr.arguments {
        argument.key = argument.key.take().map(|(key, _)| (key, 0));
        argument.value = without_positions(argument.value.clone());
    }
    expr
}

proptest! {
    #[test]
    fn normal_forms_read_back(tree in trees()) {
        let read = Expr::parse(&tree.to_string()).map(without_positions);
        prop_assert_eq!(read, Ok(tree));
    }

    /// Any text is parsed or rejected, and any family builds or rejects the result.
    #[test]
    fn no_text_panics(text in "[a-z0-9.(),:;=@+\" é\u{2003}-]{0,40}|\\PC{0,40}|(uniform|then|@|[+]|source|[(]|[)]|[:]|[;]|[,]|[0-9]| ){0,20}") {
        let grid = trgen::Geometry::new(&[4, 4]).unwrap();
        let _ = Expr::parse(&text);
        let _ = trgen::synthetic::spatial::parse(&text, &grid, 1);
        let _ = trgen::synthetic::size::parse(&text, trgen::synthetic::size::LawContext::new(16, 4));
        let context = trgen::synthetic::temporal::ProcessContext { nodes: 16, load: 0.3, capacity: 1.0, mean_phits: 16.0, seed: 1 };
        let _ = text.parse().and_then(|spec| trgen::synthetic::temporal::read(&spec, context));
        let _ = text.parse().map(|pattern| Traffic::new(&Config { pattern, ..Config::new(grid.clone()) }));
        let _ = trgen::trace::kernels::parse(&text, 16, Some(&grid));
    }

    /// The same with the names of real components, to reach their parameters.
    #[test]
    fn no_arguments_panic(
        name in prop::sample::select(trgen::synthetic::spatial::components().map(|c| c.name).collect::<Vec<_>>()),
        arguments in prop::collection::vec("[0-9]{1,3}|-?[0-9]{1,20}|[a-z]{1,3}|0\\.[0-9]|[dsgh]=-?[0-9]{1,4}", 0..4),
        sizes in prop::collection::vec(1u32..9, 1..4),
    ) {
        let grid = trgen::Geometry::new(&sizes).unwrap();
        let text = format!("{name}({})", arguments.join(","));
        if let Ok(mut pattern) = trgen::synthetic::spatial::parse(&text, &grid, 1) {
            let mut rng = trgen::rng::stream(1, 0, trgen::rng::Purpose::Spatial);
            let mut silent = 0;
            for node in (0..grid.nodes()).map(trgen::NodeId::at) {
                silent += usize::from(pattern.is_silent(node));
                for _ in 0..5 {
                    let to = pattern.destination(node, &mut rng);
                    prop_assert_eq!(to.is_none(), pattern.is_silent(node));
                    prop_assert!(to.is_none_or(|to| to != node && to.index() < grid.nodes()), "{} to {:?}", node, to);
                }
            }
            prop_assert_eq!(pattern.silent(), silent);
        }
    }
}
