//! Values of readings as words: numbers with their unit, lists cut to what a line takes.

use serde_json::Value;

use crate::probe::{TextValue, Unit};

/// What stands for nothing.
const NONE: &str = "–";
/// So many elements of a list are shown.
const SHOWN: usize = 8;

/// A reading's value.
pub(crate) fn json(value: &Value, unit: Option<Unit>) -> String {
    match value {
        Value::Null => NONE.into(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Number(number) => with_unit(&number_text(number.as_f64(), unit, number), unit),
        Value::String(text) => text.clone(),
        Value::Array(elements) => list(elements.iter().map(|element| bare(element, unit)), unit),
        Value::Object(entries) => {
            list(entries.iter().map(|(name, value)| format!("{name} {}", bare(value, unit))), unit)
        }
    }
}

/// What a text says.
pub(crate) fn text_value(value: Option<TextValue>, unit: Option<Unit>) -> String {
    match value {
        None => NONE.into(),
        Some(TextValue::Words(words)) => words.into(),
        Some(TextValue::Number(number)) => with_unit(&plain(number), unit),
    }
}

fn bare(value: &Value, unit: Option<Unit>) -> String {
    match value {
        Value::Number(number) => number_text(number.as_f64(), unit, number),
        other => json(other, None),
    }
}

fn list(elements: impl ExactSizeIterator<Item = String>, unit: Option<Unit>) -> String {
    let more = elements.len().saturating_sub(SHOWN);
    let mut shown: Vec<String> = elements.take(SHOWN).collect();
    if shown.is_empty() {
        return "none".into();
    }
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    with_unit(&shown.join(", "), unit)
}

fn with_unit(text: &str, unit: Option<Unit>) -> String {
    match unit.map(Unit::word) {
        Some(word) if !word.is_empty() => format!("{text} {word}"),
        _ => text.into(),
    }
}

fn number_text(number: Option<f64>, unit: Option<Unit>, exact: &serde_json::Number) -> String {
    match (number, unit) {
        (Some(number), Some(Unit::Ms)) => millis(number),
        (Some(number), Some(Unit::Us)) if exact.is_f64() => format!("{number:.1}"),
        (Some(number), _) if exact.is_f64() => plain(number),
        _ => exact.to_string(),
    }
}

/// Two decimals, unless they would hide that it isn't 0.
pub(super) fn millis(number: f64) -> String {
    if number != 0.0 && number.abs() < 0.005 { plain(number) } else { format!("{number:.2}") }
}

/// Up to six decimals, none that say nothing.
fn plain(number: f64) -> String {
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_carry_their_unit_and_never_hide_an_early_timer() {
        let ms = |value| json(&value, Some(Unit::Ms));
        assert_eq!(ms(json!(250.0216)), "250.02 ms");
        assert_eq!(ms(json!(0)), "0.00 ms");
        assert_eq!(ms(json!(-0.000001)), "-0.000001 ms");
        assert_eq!(json(&json!(31), Some(Unit::Count)), "31");
        assert_eq!(json(&json!(12.34), Some(Unit::Us)), "12.3 us");
        assert_eq!(text_value(Some(TextValue::Number(251.0)), Some(Unit::Ms)), "251 ms");
    }

    #[test]
    fn other_values_are_words() {
        assert_eq!(json(&Value::Null, Some(Unit::Ms)), "–");
        assert_eq!(json(&json!(true), None), "yes");
        assert_eq!(json(&json!(["a", "b"]), None), "a, b");
        assert_eq!(json(&json!([]), None), "none");
        assert_eq!(json(&json!({"p50": 12.0, "max": 30.5}), Some(Unit::Us)), "max 30.5, p50 12.0 us");
        let many: Vec<u32> = (0..20).collect();
        assert!(json(&json!(many), None).ends_with("7, 12 more"));
    }
}
