//! Tests of the pictures.

use super::*;
use std::time::Duration;

fn draw(lines: &str, options: SvgOptions) -> String {
    let header = r#"{"version":2,"width":20,"height":3,"title":"A <demo> & \"more\"\u0007"}"#;
    draw_svg(&Recording::parse(&format!("{header}\n{lines}\n")).unwrap(), options).unwrap()
}

#[test]
fn rows_are_drawn_once_and_each_frame_at_its_time() {
    let svg = draw(
        "[0, \"o\", \"one\"]\n[1, \"o\", \"\\r\\ntwo <&>\"]\n[2, \"o\", \"\\u001b[2J\\u001b[Hone\"]",
        SvgOptions { has_window: true, ..SvgOptions::default() },
    );
    assert_eq!(svg.matches(">one</text>").count(), 1, "{svg}");
    assert_eq!(svg.matches(">two &lt;&amp;&gt;</text>").count(), 1, "{svg}");
    assert_eq!(svg.matches("<use href=\"#r0\"").count(), 3, "{svg}");
    assert!(svg.contains("<title>A &lt;demo&gt; &amp; &quot;more&quot;</title>"), "{svg}");
    for keyframe in
        ["0.0000%{transform:translate(-0.0px,-0.0px)}", "20.0000%{transform:translate(-188.0px,-0.0px)}", "40.0000%{"]
    {
        assert!(svg.contains(keyframe), "{svg}");
    }
    assert!(svg.contains("animation:f 5.000s"), "{svg}");
}

#[test]
fn a_single_frame_is_not_animated_and_the_window_can_be_left_out() {
    let svg = draw(
        "[0, \"o\", \"\\u001b[3;4;2;38;2;1;2;3mx\\u001b[0m│日\\u001b[1mb\"]",
        SvgOptions { has_window: false, ..SvgOptions::default() },
    );
    assert!(!svg.contains("animation") && !svg.contains("<circle"), "{svg}");
    assert!(
        svg.contains("fill=\"#010203\" font-style=\"italic\" text-decoration=\"underline\" opacity=\"0.6\">x</text>"),
        "{svg}"
    );
    assert!(svg.contains("<path d=\"M") && svg.contains("textLength=\"16.8\"") && svg.contains(">日</text>"), "{svg}");
    assert!(svg.contains("font-weight=\"bold\">b</text>"), "{svg}");
    assert!(!svg.contains("font:"), "it would replace the weight of each text: {svg}");
}

#[test]
fn hostile_text_stays_text() {
    let text = "</text><script>alert(1)</script>\u{fffe}\u{1b}]8;;javascript:x\u{7}link\u{1b}]8;;\u{7}";
    let event = serde_json::json!([0, "o", text]);
    let header = r##"{"version":2,"width":200,"height":3,"theme":{"fg":"\"><script>","bg":"#000000","palette":""}}"##;
    let svg = draw_svg(
        &Recording::parse(&format!("{header}\n{event}\n")).unwrap(),
        SvgOptions { has_window: true, ..SvgOptions::default() },
    )
    .unwrap();
    assert!(!svg.contains("<script") && !svg.contains("javascript") && svg.contains("link</text>"), "{svg}");
    let without_events = Frames::play(&Recording::parse(&format!("{header}\n")).unwrap()).unwrap();
    assert_eq!((without_events.frames.len(), without_events.duration), (1, Duration::ZERO));
}
