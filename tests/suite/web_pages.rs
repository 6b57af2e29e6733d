//! Reading web pages in the real program: prompts, rules by host, redirects, and addresses that are never reached.

use crate::support::service::Answer;
use crate::support::stored_files::read_session;
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use crate::support::user::User;
use crate::support::web_server::WebServer;
use aye::chat::{Entry, Outcome};
use serde_json::json;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

fn fetch(url: &str) -> Answer {
    calls_answer_after(Duration::ZERO, &[("web_fetch", json!({ "url": url }))])
}

/// A user who allows these hosts of private networks.
fn user_with(answers: Vec<Answer>, private_hosts: &[String]) -> User {
    let user = User::new(answers);
    let settings = user.path("home/aye/config/config.toml");
    let hosts: Vec<String> = private_hosts.iter().map(|host| format!("\"{host}\"")).collect();
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, format!("{text}\n[web]\nprivate_hosts = [{}]\n", hosts.join(", "))).unwrap();
    user
}

/// The verdict of each call with its reason, and the outcomes.
fn read_calls(user: &User) -> (Vec<(String, String)>, Vec<Outcome>) {
    let (mut verdicts, mut outcomes) = (Vec::new(), Vec::new());
    for entry in read_session(&user.setup(&[])) {
        match entry {
            Entry::Planned { verdict, reason, .. } => verdicts.push((verdict, reason)),
            Entry::Settled { outcome, .. } => outcomes.push(outcome),
            _ => {}
        }
    }
    (verdicts, outcomes)
}

#[test]
fn a_page_is_read_after_approval_and_its_host_can_be_allowed() {
    let page = b"<html><body><h1>Title</h1><p>Text <b>here</b>.</p><script>no()</script></body></html>";
    let server = WebServer::start()
        .with_page("/page", "200 OK\r\nContent-Type: text/html", page)
        .with_page("/data", "200 OK\r\nContent-Type: application/json", b"{\"a\":1}")
        .with_page("/moved", "302 Found\r\nLocation: /data", b"")
        .with_page("/away", "302 Found\r\nLocation: http://example.com/x", b"");
    let answers = vec![
        fetch(&server.url("/page")),
        fetch(&server.url("/moved")),
        fetch(&server.url("/missing")),
        fetch(&server.url("/away")),
        text_answer("Done."),
    ];
    let user = user_with(answers, &[format!("127.0.0.1:{}", server.port)]);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    let screen = program.until_prompt("Read from the web?");
    assert!(screen.contains(&format!("GET {}", server.url("/page"))) && screen.contains("private network"), "{screen}");
    assert_eq!(server.connection_count(), 0, "nothing is requested before the approval");
    program.press_until("a", "Allow without asking");
    assert!(program.screen().contains("any page of 127.0.0.1"), "{}", program.screen());
    // The grant would allow the next call, but a page was read.
    program.press_until("\r", "which may have led to this request");
    program.until_prompt("Read from the web?");
    program.press_keys("y");
    program.until_idle("Done.");
    let (verdicts, outcomes) = read_calls(&user);
    let names: Vec<&str> = verdicts.iter().map(|(verdict, _)| verdict.as_str()).collect();
    assert_eq!(names, ["ask", "ask", "allow", "allow"], "once a turn: {verdicts:?}");
    let [Outcome::Done(first), Outcome::Done(second), Outcome::Failed(third), Outcome::Failed(fourth)] =
        outcomes.as_slice()
    else {
        panic!("{outcomes:?}")
    };
    assert!(first.contains("Untrusted text") && first.contains("# Title") && !first.contains("no()"), "{first}");
    assert!(second.contains("\"a\": 1") && second.contains("/data"), "the redirect was followed: {second}");
    assert!(third.contains("404") && third.contains("none"), "{third}");
    assert!(fourth.contains("needs a call of its own: http://example.com/x"), "{fourth}");
    let sent = user.service.received().last().unwrap().body.to_string();
    assert!(sent.contains("# Title"), "the model received the page");
}

/// Hosts whose addresses are not public, in many spellings: those of this machine, and others.
fn special_hosts() -> (Vec<&'static str>, Vec<&'static str>) {
    let lines: Vec<&str> = include_str!("../../src/web/special_addresses.txt").lines().collect();
    // A comment is above each of the two parts.
    let mut parts = lines.split(|line| line.starts_with('#')).filter(|part| !part.is_empty()).map(<[_]>::to_vec);
    (parts.next().unwrap(), parts.next().unwrap())
}

/// Returns whether a spelling leads to this server, if nothing refuses it.
fn leads_to(server: &WebServer, host: &str) -> bool {
    let url = reqwest::Url::parse(&format!("http://{host}/")).unwrap();
    let address = url.host_str().unwrap().trim_matches(['[', ']']).parse().unwrap();
    TcpStream::connect_timeout(&SocketAddr::new(address, server.port), Duration::from_secs(2)).is_ok()
}

/// Addresses of a server that must never be reached, in many spellings, directly, by name and by redirect.
#[test]
fn no_address_of_a_private_network_is_reached() {
    let canary = WebServer::start_on_all_addresses();
    let port = canary.port;
    let entrance = WebServer::start()
        .with_page("/a", &format!("302 Found\r\nLocation: http://127.0.0.1:{port}/"), b"")
        .with_page("/b", &format!("301 Moved\r\nLocation: http://[::ffff:127.0.0.1]:{port}/"), b"")
        .with_page("/c", &format!("307 Again\r\nLocation: http://0x7f000001:{port}/"), b"");
    let (own_hosts, other_hosts) = special_hosts();
    let twin = WebServer::start_on_all_addresses();
    let reachable = own_hosts.iter().filter(|host| leads_to(&twin, host)).count();
    assert!(reachable > 100, "only {reachable} spellings lead to a server of this machine");
    let forms = [("http", "/"), ("http", "/?a=b"), ("https", "/"), ("HTTP", "/x")];
    let urls: Vec<String> = own_hosts
        .iter()
        .chain(&other_hosts)
        .zip(forms.iter().cycle())
        .map(|(host, (scheme, path))| format!("{scheme}://{host}:{port}{path}"))
        .chain(forms.iter().map(|(scheme, path)| format!("{scheme}://127.0.0.1:{port}{path}")))
        .collect();
    // After eight replies without a success no call would be made.
    let mut answers: Vec<Answer> = urls
        .chunks(urls.len().div_ceil(7))
        .map(|chunk| {
            let calls: Vec<_> = chunk.iter().map(|url| ("web_fetch", json!({ "url": url }))).collect();
            calls_answer_after(Duration::ZERO, &calls)
        })
        .collect();
    answers.push(text_answer("None was reached."));
    // A name is known to lead to this machine only when it is resolved.
    answers.extend([fetch(&format!("http://localhost:{port}/")), text_answer("Nor this.")]);
    for path in ["/a", "/b", "/c"] {
        answers.extend([fetch(&entrance.url(path)), text_answer(&format!("After {path}"))]);
    }
    let user = user_with(answers, &[format!("127.0.0.1:{}", entrance.port)]);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_idle("None was reached.");
    for (message, end) in [("name", "Nor this."), ("a", "After /a"), ("b", "After /b"), ("c", "After /c")] {
        submit_message(&mut program, message);
        program.until_prompt("Read from the web?");
        program.press_keys("y");
        program.until_idle(end);
    }
    let (_, outcomes) = read_calls(&user);
    assert_eq!(outcomes.len(), urls.len() + 4);
    for outcome in &outcomes {
        assert!(matches!(outcome, Outcome::Failed(text) if text.contains("Refused: ")), "{outcome:?}");
    }
    assert_eq!(entrance.connection_count(), 3);
    assert_eq!(canary.connection_count(), 0, "the canary was reached");
}

#[test]
fn at_most_five_redirects_are_followed() {
    let mut server = WebServer::start().with_page("/7", "200 OK\r\nContent-Type: text/plain", b"the end");
    for number in 1..7 {
        let moved = format!("302 Found\r\nLocation: /{}", number + 1);
        server = server.with_page(&format!("/{number}"), &moved, b"");
    }
    let user = user_with(
        vec![fetch(&server.url("/1")), text_answer("First."), fetch(&server.url("/2")), text_answer("Second.")],
        &[format!("127.0.0.1:{}", server.port)],
    );
    let mut program = user.start(&[]);
    program.until("Messages go to");
    for (message, end) in [("six", "First."), ("five", "Second.")] {
        submit_message(&mut program, message);
        program.until_prompt("Read from the web?");
        program.press_keys("y");
        program.until_idle(end);
    }
    let (_, outcomes) = read_calls(&user);
    let [Outcome::Failed(six), Outcome::Done(five)] = outcomes.as_slice() else { panic!("{outcomes:?}") };
    assert!(six.contains("redirected more than 5 times"), "{six}");
    assert!(five.contains("the end") && five.contains("/7"), "{five}");
    let paths: Vec<String> =
        server.requests().iter().map(|request| request.split(' ').nth(1).unwrap().to_owned()).collect();
    assert_eq!(paths, ["/1", "/2", "/3", "/4", "/5", "/6", "/2", "/3", "/4", "/5", "/6", "/7"]);
}

#[test]
fn no_cookie_is_kept_and_robots_txt_is_not_read() {
    let server = WebServer::start()
        .with_page("/set", "302 Found\r\nSet-Cookie: id=1; Path=/\r\nLocation: /page", b"")
        .with_page("/page", "200 OK\r\nSet-Cookie: id=2; Path=/\r\nContent-Type: text/plain", b"a page");
    let answers = vec![fetch(&server.url("/set")), fetch(&server.url("/page")), text_answer("Done.")];
    let user = user_with(answers, &[format!("127.0.0.1:{}", server.port)]);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("Read from the web?");
    program.press_until("a", "Allow without asking");
    program.press_until("\r", "which may have led to this request");
    program.until_prompt("Read from the web?");
    program.press_keys("y");
    program.until_idle("Done.");
    let (_, outcomes) = read_calls(&user);
    assert!(outcomes.len() == 2 && outcomes.iter().all(|outcome| outcome.text().contains("a page")), "{outcomes:?}");
    let requests = server.requests();
    let paths: Vec<&str> = requests.iter().map(|request| request.split(' ').nth(1).unwrap()).collect();
    assert_eq!(paths, ["/set", "/page", "/page"]);
    assert!(!requests.iter().any(|request| request.to_ascii_lowercase().contains("cookie")), "{requests:?}");
}

#[test]
fn a_rule_by_host_is_read_and_a_dry_run_requests_nothing() {
    let server = WebServer::start().with_page("/", "200 OK\r\nContent-Type: text/plain", b"text");
    let private = [format!("127.0.0.1:{}", server.port)];
    let rule = |verdict: &str| format!("[[rule]]\nverdict = \"{verdict}\"\nhost = \"127.0.0.1\"\n");
    for (arguments, verdict, expected, connections) in
        [(&[][..], "allow", "allow", 1), (&[], "deny", "refuse", 1), (&["--dry-run"], "allow", "rehearse", 1)]
    {
        let user = user_with(vec![fetch(&server.url("/")), text_answer("Done.")], &private).with_rules(&rule(verdict));
        let mut program = user.start(arguments);
        program.until("Messages go to");
        submit_message(&mut program, "go");
        program.until("Done.");
        program.until_condition("the outcome is saved", |_| !read_calls(&user).1.is_empty());
        assert_eq!(read_calls(&user).0[0].0, expected);
        assert_eq!(server.connection_count(), connections, "{verdict} {arguments:?}");
    }
}

#[test]
fn large_and_hostile_pages_are_bounded() {
    let long = "a line of a long page\n".repeat(100_000);
    let deep = "<div>".repeat(150_000);
    let server = WebServer::start()
        .with_page("/long", "200 OK\r\nContent-Type: text/plain", long.as_bytes())
        .with_page("/deep", "200 OK\r\nContent-Type: text/html", deep.as_bytes())
        .with_page("/escape", "200 OK\r\nContent-Type: text/plain", b"\x1b]0;owned\x07\x1b[2Jgone")
        .with_page("/picture", "200 OK\r\nContent-Type: image/png", b"\x89PNG");
    let pages = ["/long", "/deep", "/escape", "/picture"].map(|path| fetch(&server.url(path)));
    let answers = pages.into_iter().chain([text_answer("Done.")]).collect();
    let rules = "[[rule]]\nverdict = \"allow\"\nhost = \"127.0.0.1\"\n";
    let user = user_with(answers, &[format!("127.0.0.1:{}", server.port)]).with_rules(rules);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("Read from the web?");
    program.press_keys("y");
    let screen = program.until_idle("Done.");
    assert!(!String::from_utf8_lossy(&program.bytes()).contains("\x1b]0;owned"), "a page set the title");
    assert!(screen.contains("Fetch"), "{screen}");
    let (_, outcomes) = read_calls(&user);
    let Outcome::Done(text) = &outcomes[0] else { panic!("{outcomes:?}") };
    assert!(text.len() < 64 << 10, "{}", text.len());
    assert!(
        text.contains("truncated: only the first 1048576 bytes were read") && text.contains("continue with line"),
        "{}",
        &text[..300]
    );
    assert!(matches!(&outcomes[3], Outcome::Failed(text) if text.contains("not text: image/png")), "{outcomes:?}");
}

/// Compresses bytes as the streams of a PDF are.
fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// A compressed stream of 4 GiB, made of one compressed MiB that is repeated.
fn compressed_bomb() -> Vec<u8> {
    let mut compress = flate2::Compress::new(flate2::Compression::best(), true);
    let mut block = |room: usize| {
        let mut packed = Vec::with_capacity(room);
        compress.compress_vec(&vec![b' '; 1 << 20], &mut packed, flate2::FlushCompress::Full).unwrap();
        packed
    };
    let (first, next) = (block(64 << 10), block(64 << 10));
    [first, next.repeat(4096)].concat()
}

/// Makes a PDF of one page in Helvetica with this compressed content.
fn make_pdf(packed: &[u8]) -> Vec<u8> {
    let head = format!(
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
         3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 5 0 R/Resources<</Font<</F 4 0 R>>>>>>endobj\n\
         4 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n\
         5 0 obj<</Filter/FlateDecode/Length {}>>stream\n",
        packed.len()
    );
    [head.as_bytes(), packed, b"\nendstream endobj\ntrailer<</Root 1 0 R>>\n"].concat()
}

#[test]
fn the_text_of_pdfs_and_feeds_is_read_and_a_hostile_pdf_does_no_harm() {
    let feed = b"<rss version=\"2.0\"><channel><title>Blog</title><item><title>One</title>\
                 <description>&lt;p&gt;Is &lt;b&gt;out&lt;/b&gt;&lt;/p&gt;</description></item></channel></rss>";
    let long = [b"BT /F 12 Tf 50 700 Td (Text of a PDF) Tj ET ".as_slice(), &[b' '; 3 << 20]].concat();
    let mut bytes: u32 = 1;
    // Compressed data that does not shrink: a PDF of more than the limit of other responses.
    let noise = std::iter::repeat_with(|| {
        bytes = bytes.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b'0' + (bytes >> 24) as u8 % 10
    });
    let noisy = [b"BT /F 12 Tf 50 700 Td (A large PDF) Tj ET %".to_vec(), noise.take(3 << 20).collect()].concat();
    let kind = "200 OK\r\nContent-Type: application/pdf";
    let server = WebServer::start()
        .with_page("/feed", "200 OK\r\nContent-Type: application/rss+xml", feed)
        .with_page("/small", "200 OK\r\nContent-Type: application/octet-stream", &make_pdf(&compress(&long)))
        .with_page("/large", kind, &make_pdf(&compress(&noisy)))
        .with_page("/bomb", kind, &make_pdf(&compressed_bomb()))
        .with_page("/huge", kind, &[b"%PDF-1.4\n".as_slice(), &vec![b'x'; 17 << 20]].concat())
        .with_page("/broken", kind, b"%PDF-1.4\nnothing");
    let paths = ["/feed", "/small", "/large", "/bomb", "/huge", "/broken"];
    let answers = paths.iter().map(|path| fetch(&server.url(path))).chain([text_answer("Done.")]).collect();
    let user = user_with(answers, &[format!("127.0.0.1:{}", server.port)]);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("Read from the web?");
    program.press_until("a", "Allow without asking");
    program.press_until("\r", "which may have led to this request");
    program.until_prompt("Read from the web?");
    program.press_keys("y");
    program.until_idle("Done.");
    let (_, outcomes) = read_calls(&user);
    let [
        Outcome::Done(feed),
        Outcome::Done(small),
        Outcome::Done(large),
        Outcome::Failed(bomb),
        Outcome::Failed(huge),
        Outcome::Failed(broken),
    ] = outcomes.as_slice()
    else {
        panic!("{outcomes:?}")
    };
    assert!(feed.contains("# Blog") && feed.contains("Is **out**") && feed.contains("Untrusted text"), "{feed}");
    assert!(small.contains("text of a PDF") && small.ends_with("[page 1 of 1]\nText of a PDF\n\n"), "{small}");
    assert!(large.contains("A large PDF"), "{large}");
    // On a busy machine the limit of the waiting time comes first.
    let is_stopped = |text: &str| bomb.contains(text);
    assert!(is_stopped("with 10 s of processor time and 1 GiB") || is_stopped("not read within 30 s"), "{bomb}");
    assert!(huge.contains("sent a PDF of more than 16 MiB"), "{huge}");
    assert!(broken.contains("damaged or no PDF"), "{broken}");
}
