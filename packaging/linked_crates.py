"""Lists the crates that are linked into the program, for a target and a choice of features."""

import json
import os
import re
import subprocess

SOURCE = "registry+https://github.com/rust-lang/crates.io-index"


class Crate:
    """A crate of the program; `dependencies` are keys of other crates. A key is a name and a version."""

    def __init__(self, name, version, licence):
        self.key = (name, version)
        self.name = name
        self.version = version
        # Old manifests separate licences by a slash, which is no SPDX expression.
        self.licence = re.sub(r"\s*/\s*", " OR ", licence)
        self.dependencies = set()


def cargo(*arguments):
    command = [os.environ.get("CARGO", "cargo"), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def find_host():
    """Returns the target of this machine."""
    return next(line.split()[1] for line in cargo("-vV").splitlines() if line.startswith("host:"))


def list_linked_crates(target, features):
    """Returns the crates by key, and the key of the program itself. `features` are separated by commas; `none` stands for
    no feature, and None for those that are on by default.

    `cargo tree` is asked, not `cargo metadata`: it tells the features of the program from those that only a build script, a
    macro or a test needs, so that a crate behind such a feature is not listed."""
    cargo("fetch", "--locked", "--target", target)
    choice = []
    if features is not None:
        choice = ["--no-default-features", "--features", "" if features == "none" else features.replace(" ", "")]
    tree = cargo(
        *["tree", "--locked", "--offline", "--target", target, "--edges", "normal,no-proc-macro", *choice],
        *["--prefix", "depth", "--format", "|{p}|{l}|"],
    )
    crates, above = {}, []
    for line in tree.splitlines():
        depth, package, licence, _ = line.split("|")
        name, version = re.match(r"(\S+) v(\S+)", package).groups()
        crate = crates.setdefault((name, version), Crate(name, version, licence))
        del above[int(depth) :]
        if above:
            above[-1].dependencies.add(crate.key)
        above.append(crate)
    return crates, above[0].key


def read_checksums():
    """Returns the SHA-256 of the published archive of each crate, from `Cargo.lock`."""
    checksums = {}
    for entry in open("Cargo.lock", encoding="utf-8").read().split("[[package]]")[1:]:
        fields = dict(re.findall(r'^(\w+) = "(.*)"$', entry, re.MULTILINE))
        if "checksum" in fields:
            if fields["source"] != SOURCE:
                raise SystemExit(f"{fields['name']} is not from crates.io, and has no package address")
            checksums[fields["name"], fields["version"]] = fields["checksum"]
    return checksums


def list_folders(target):
    """Returns the folder of the source of each crate."""
    options = ["--format-version", "1", "--locked", "--offline", "--filter-platform", target, "--all-features"]
    packages = json.loads(cargo("metadata", *options))["packages"]
    return {(package["name"], package["version"]): package["manifest_path"].rpartition("/")[0] for package in packages}
