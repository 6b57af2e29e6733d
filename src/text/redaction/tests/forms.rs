//! Forms in which a secret may occur in a text, used by all tests of redaction.

/// A text in which `§` stands for the secret.
pub struct Form {
    pub text: &'static str,
    /// Prefix of the secret, for tokens that are recognised by it.
    pub prefix: &'static str,
    /// Characters after the prefix.
    pub length: usize,
}

impl Form {
    /// Returns the secret of this form. It is assembled here, so that no file contains one.
    pub fn secret(&self) -> String {
        let characters = "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8".chars().cycle();
        let is_upper_case = matches!(self.prefix, "AKIA" | "ASIA");
        let characters = characters.map(|c| if is_upper_case { c.to_ascii_uppercase() } else { c });
        self.prefix.chars().chain(characters.take(self.length)).collect()
    }

    /// Inserts this secret into the text.
    pub fn with_secret(&self, secret: &str) -> String {
        self.text.replace('§', secret)
    }
}

/// Returns every form.
pub fn all_forms() -> Vec<Form> {
    let named = |text: &&'static str| Form { text, prefix: "", length: 9 };
    let token = |(prefix, length): &(&'static str, usize)| Form { text: "use § now", prefix, length: *length };
    let private_key = |text: &&'static str| Form { text, prefix: "", length: 40 };
    let jwt = Form { text: "§", prefix: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.", length: 30 };
    let mut forms: Vec<Form> = NAMED.iter().map(named).collect();
    forms.extend(TOKENS.iter().map(token));
    forms.extend(KEYS.iter().map(private_key));
    forms.push(jwt);
    forms
}

/// Forms in which the secret is recognised by the text before it.
#[rustfmt::skip]
const NAMED: &[&str] = &[
    // Long options
    "tool --password § --verbose", "tool --password=§", "tool --password '§'", "tool --password=\"§\"",
    "tool --token=§ x", "tool --token § x", "tool --api-key §", "tool --client-secret=§", "tool --passphrase §",
    "[\"tool\", \"--password\", \"§\"]", "{\"args\":[\"--token\",\"§\"]}", "tool -password §", "tool --db-password §",
    // Short options of known programs
    "mysql -u root -p§ shop", "mysql -uroot -p § shop", "mysqldump -p§ --all-databases", "mysqldump -p '§' shop",
    "mariadb -p§", "mariadb -u root -p § shop", "/usr/bin/mysql -p\"§\"", "mysqladmin -u root -p§ status",
    "curl -u ada:§ https://example.com", "curl -uada:§ x", "curl -s -u 'ada:§' x", "curl --user ada:§ x",
    "curl --user=ada:§ x", "curl -H 'Accept: a; q=1' -u ada:§ x", "curl \\\n  -u ada:§ \\\n  x",
    "curl --proxy-user ada:§ x", "curl -b 'sid=§' x", "curl --cookie sid=§ x", "curl -su ada:§ x",
    "{\"command\":\"curl -H \\\"A: b; c\\\" -u ada:§ x\"}",
    "wget --password § x", "wget --user ada --password=§ x", "wget --http-password=§ x", "wget --ftp-password § x",
    "docker login -u ada -p § registry.example.com", "docker login -p§", "podman login -u ada -p § x",
    "podman login --password § x", "sshpass -p § ssh ada@host", "sshpass -p§ ssh ada@host", "redis-cli -a § ping",
    "sqlcmd -U sa -P § -Q x", "unzip -P § a.zip", "mongosh -u ada -p § x", "openssl rsa -passin pass:§ -in k",
    // Variables
    "PGPASSWORD=§ psql -h db", "PGPASSWORD='§' psql", "export FOO_TOKEN=§", "export FOO_TOKEN=\"§\"",
    "MYSQL_PWD=§ mysql", "SSHPASS=§ sshpass -e x", "DB_PASS=§", "SECRET_KEY_BASE_SECRET=§",
    "env FOO_SECRET=§ make", "set API_KEY=§", "$env:DB_PASSWORD = \"§\"", "OPENAI_API_KEY=§", "x;FOO_TOKEN=§;y",
    // Settings
    "aws_secret_access_key = §", "aws_secret_access_key=§", "aws_session_token = §", "password = §",
    "password = \"§\"", "password=§", "password: §", "  password: '§'", "db:\n  password: §\n  name: x",
    "- password: §", "spring.datasource.password=§", "dbPassword: \"§\"", "clientSecret: '§',",
    "//registry.npmjs.org/:_authToken=§", "machine github.com login ada password §", "login ada\n  password §",
    "Server=db;User Id=sa;Password=§;Database=x", "AccountName=x;AccountKey=§==;EndpointSuffix=y", "<password>§</password>",
    "CREATE USER x WITH PASSWORD '§'", "CREATE USER x IDENTIFIED BY '§'", ":password => \"§\",", "+password: §",
    "-  password: §", "passphrase = §", "client.password(\"§\")", "passwd: §",
    // JSON
    "{\"password\":\"§\"}", "{\"password\": \"§\", \"a\": 1}", "{\"a\":{\"b\":[{\"token\":\"§\"}]}}",
    "{\"body\":\"{\\\"password\\\":\\\"§\\\"}\"}", "\"{\\\\\\\"password\\\\\\\":\\\\\\\"§\\\\\\\"}\"",
    "{'password': '§'}", "{\"api_key\":\"§\"}", "{\"client_secret\" : \"§\"}", "{\"accessToken\":\"§\"}",
    "{\"password\":\"x \\\" y §\"}", "{\"text\":\"a\\nPGPASSWORD=§\\nb\"}", "{user: bob, password: §}",
    "{\"auth\":\"§bcdefgh1234==\"}",
    // Addresses
    "https://example.com/a?token=§", "https://example.com/a?x=1&api_key=§&y=2", "https://x/?access_token=§#a",
    "https://x/?x=1&amp;password=§&amp;y", "https://x/?x=1\\u0026token=§\"", "postgres://ada:§@db:5432/x",
    "https://ada:§@example.com/", "redis://:§@host/0", "https:\\/\\/ada:§@host\\/", "git clone https://ada:§@host/r.git",
    "mongodb+srv://ada:§@cluster.example.net/db", "grant_type=password&password=§&x=y", "https://x/a?X-Amz-Signature=§aB3dE5gH7",
    // Headers
    "Cookie: sid=§; theme=dark", "cookie: sid=§", "Set-Cookie: sid=§; Path=/; HttpOnly", "{\"Cookie\":\"a=b; sid=§\"}",
    "\"set-cookie\": [\"sid=§; Path=/\"]", "curl -H 'Cookie: a=b; sid=§' x", "Authorization: Bearer §",
    "authorization: bearer §", "AUTHORIZATION: BEARER §", "Authorization: Basic §==", "Authorization: token §",
    "Authorization: §", "Authorization: Digest username=\"ada\", response=\"§\"", "Proxy-Authorization: Basic §",
    "{\"Authorization\":\"Bearer §\"}", "-H \"Authorization: Bearer §\" x", "{\"c\":\"-H \\\"Authorization: Bearer §\\\"\"}",
    "Authorization: AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature=§", "X-Api-Key: §", "x-api-key:§",
    "> X-Auth-Token: §", "curl -H \"PRIVATE-TOKEN: §\" x", "{\"headers\":{\"x-api-key\":\"§\"}}", "X-Vault-Token: §",
    "Sec-WebSocket-Protocol: x\r\nCookie: sid=§\r\nHost: y", "api-key: §", "X-Goog-Api-Key: §",
];

/// Prefixes of tokens of known issuers, and the number of characters after them.
#[rustfmt::skip]
const TOKENS: &[(&str, usize)] = &[
    ("sk-", 6), ("sk-", 20), ("sk-", 48), ("sk-ant-api03-", 40), ("sk-ant-", 12), ("sk-proj-", 40), ("sk-or-v1-", 40),
    ("gsk_", 40), ("xai-", 40), ("hf_", 34), ("r8_", 37), ("pplx-", 40), ("AIza", 35), ("ya29.", 40),
    ("ghp_", 36), ("gho_", 36), ("ghu_", 36), ("ghs_", 36), ("ghr_", 36), ("github_pat_", 60), ("glpat-", 20),
    ("npm_", 36), ("pypi-", 60), ("dckr_pat_", 27), ("AKIA", 16), ("ASIA", 16), ("dop_v1_", 64), ("hvs.", 24),
    ("SG.", 44), ("sk_live_", 24), ("sk_test_", 24), ("rk_live_", 24), ("whsec_", 32), ("shpat_", 32), ("xoxb-", 30),
    ("xoxp-", 30), ("xapp-", 30), ("lin_api_", 40), ("figd_", 40), ("AGE-SECRET-KEY-1", 40), ("glrt-", 20),
];

/// Private keys: complete, truncated, in a diff, in JSON.
const KEYS: &[&str] = &[
    "-----BEGIN RSA PRIVATE KEY-----\n§\n§\n-----END RSA PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\n§",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n§\n§",
    "+-----BEGIN EC PRIVATE KEY-----\n+§\n+-----END EC PRIVATE KEY-----",
    "------BEGIN EC PRIVATE KEY-----\n-§\n------END EC PRIVATE KEY-----",
    "{\"private_key\":\"-----BEGIN PRIVATE KEY-----\\n§\\n-----END PRIVATE KEY-----\\n\"}",
    "{\"a\":\"{\\\"k\\\":\\\"-----BEGIN PRIVATE KEY-----\\\\n§\\\\n§\\\\n\\\"}\"}",
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n§\n",
    "§\n§\n-----END RSA PRIVATE KEY-----",
    "+§\n+§\n+-----END RSA PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n§\n=aBcD\n-----END PGP PRIVATE KEY BLOCK-----",
];
