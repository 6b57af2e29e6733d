//! Syntax of scripting, configuration, document and query languages, and of rarer ones.

use super::{CODE, HASH, Kind, Language};

/// Defaults of configuration files with keys and `#` comments.
const KEYS: Language = Language { kind: Kind::Keys, name_characters: "-", ..HASH };

pub(super) const LANGUAGES: &[Language] = &[
    Language {
        names: "php php5 php7 phtml",
        line_comments: "// #",
        name_characters: "$",
        keywords: "abstract and array as break callable case catch class clone const continue declare default do echo else \
            elseif empty enum extends final finally fn for foreach function global if implements include include_once \
            instanceof interface isset list match namespace new or print private protected public readonly require \
            require_once return static switch throw trait try unset use var while yield",
        types: "bool float int iterable mixed object string void",
        ..CODE
    },
    Language {
        names: "ruby rb gemfile rakefile podfile crystal cr",
        name_characters: "?@$",
        keywords: "alias and begin break case class def do else elsif end ensure extend for if in include module next not or \
            private protected public raise redo require require_relative rescue retry return self super then undef unless \
            until when while yield attr_accessor attr_reader attr_writer",
        values: "true false nil",
        ..HASH
    },
    Language {
        names: "perl pl pm",
        name_characters: "$@%",
        keywords: "and cmp die do else elsif eq for foreach ge given gt if last le local lt my ne next no not or our package \
            print redo require return say sub unless until use when while xor",
        values: "undef",
        has_capital_types: false,
        ..HASH
    },
    Language {
        names: "lua luau",
        line_comments: "--",
        block_comment: ("--[[", "]]"),
        keywords: "and break do else elseif end for function goto if in local not or repeat return then until while",
        values: "true false nil",
        has_capital_types: false,
        ..CODE
    },
    Language {
        names: "r rscript",
        name_characters: ".",
        keywords: "break else for function if in library next repeat require return while",
        values: "TRUE FALSE NULL NA NaN Inf",
        has_capital_types: false,
        ..HASH
    },
    Language {
        names: "julia jl",
        strings: "\"\"\" \"",
        name_characters: "!",
        keywords: "abstract baremodule begin break catch const continue do else elseif end export finally for function global if \
            import in let local macro module mutable outer quote return struct try type using where while",
        values: "true false nothing missing",
        ..HASH
    },
    Language {
        names: "elixir ex exs",
        strings: "\"\"\" \" '",
        name_characters: "?!",
        keywords: "after alias and case catch cond def defimpl defmacro defmodule defp defprotocol defstruct do else end fn for \
            if import in not or quote raise receive require rescue super throw try unless unquote use when with",
        values: "true false nil",
        ..HASH
    },
    Language {
        names: "erlang erl hrl",
        line_comments: "%",
        block_comment: ("", ""),
        keywords: "after and andalso begin case catch div end fun if of not or orelse receive rem try when xor",
        ..CODE
    },
    Language {
        names: "haskell hs elm purescript purs",
        line_comments: "--",
        block_comment: ("{-", "-}"),
        strings: "\"",
        name_characters: "'",
        keywords: "as case class data default deriving do else family forall foreign hiding if import in infix infixl infixr \
            instance let module newtype of qualified then type where",
        values: "True False Nothing",
        ..CODE
    },
    Language {
        names: "ocaml ml mli fsharp f# fs fsx",
        line_comments: "//",
        block_comment: ("(*", "*)"),
        strings: "\"",
        name_characters: "'",
        keywords: "and as assert async begin class do done downto else end exception external for fun function functor if in \
            include inherit initializer lazy let match member method module mutable namespace new object of open private \
            rec sig struct then to try type use val virtual when while with yield",
        values: "true false None",
        types: "int float bool string char unit list option array",
        ..CODE
    },
    Language {
        names: "clojure clj cljs edn lisp scheme scm racket rkt elisp el common-lisp",
        line_comments: ";",
        block_comment: ("#|", "|#"),
        strings: "\"",
        name_characters: "-?!*+/<>=:",
        keywords: "and cond def defmacro defmethod defn defn- defun define define-syntax do doseq fn for if if-let lambda let \
            let* letrec loop ns or quote recur require setf setq when when-let",
        values: "true false nil t",
        has_capital_types: false,
        ..CODE
    },
    Language {
        names: "sql psql plsql tsql mysql postgres postgresql sqlite duckdb prql",
        line_comments: "--",
        keywords: "add all alter and any as asc begin between by cascade case check column commit constraint create cross \
            database default delete desc distinct drop else end except exists explain foreign from full function grant \
            group having if ilike in index inner insert intersect into is join key lateral left like limit materialized \
            not null offset on or order outer over partition primary procedure references replace returning revoke right \
            rollback row rows schema select set table temp temporary then to transaction trigger truncate union unique \
            update using values view when where with",
        values: "true false",
        types: "bigint bigserial blob bool boolean char date decimal double float int integer interval json jsonb numeric \
            real serial smallint text time timestamp timestamptz uuid varchar",
        has_capital_types: false,
        is_case_sensitive: false,
        ..CODE
    },
    Language {
        names: "bash sh zsh shell shell-session console fish ksh bashrc zshrc profile env dotenv",
        kind: Kind::Shell,
        multiline_strings: "\" '",
        name_characters: "$-./@%+:~",
        keywords: "case do done elif else esac export fi for function if in local readonly return select then until while set \
            unset source alias exit trap begin end",
        ..HASH
    },
    Language {
        names: "powershell ps1 psm1 pwsh",
        kind: Kind::Shell,
        block_comment: ("<#", "#>"),
        name_characters: "$-.:",
        keywords: "begin break catch class continue data do else elseif end exit filter finally for foreach function if in \
            param process return switch throw trap try until using while",
        values: "$true $false $null",
        is_case_sensitive: false,
        ..HASH
    },
    Language {
        names: "dockerfile docker containerfile",
        name_characters: "-",
        keywords: "FROM RUN CMD LABEL MAINTAINER EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD STOPSIGNAL \
            HEALTHCHECK SHELL AS",
        has_capital_types: false,
        ..HASH
    },
    Language {
        names: "makefile make mk gnumakefile justfile just cmake cmakelists.txt",
        kind: Kind::Keys,
        name_characters: "-.$/%",
        keywords: "define else endef endif export ifdef ifeq ifndef ifneq include override set if endif foreach function add_executable \
            target_link_libraries project find_package",
        ..HASH
    },
    Language {
        names: "json jsonc json5 jsonl ndjson geojson webmanifest",
        kind: Kind::Keys,
        line_comments: "//",
        ..CODE
    },
    Language { names: "yaml yml clang-format", values: "true false null yes no on off ~", ..KEYS },
    Language { names: "toml cargo.lock poetry.lock", strings: "\"\"\" ''' \" '", name_characters: "-.", ..KEYS },
    Language {
        names: "ini conf cfg properties editorconfig gitconfig desktop service systemd nginx",
        line_comments: "# ;",
        name_characters: "-.",
        values: "true false yes no on off",
        ..KEYS
    },
    Language {
        names: "hcl terraform tf tfvars nix",
        line_comments: "# //",
        kind: Kind::Keys,
        name_characters: "-",
        multiline_strings: "\"",
        keywords: "resource data variable output module provider locals terraform dynamic for for_each in if else let with rec \
            inherit import then assert",
        ..CODE
    },
    Language {
        names: "css scss sass less styl",
        kind: Kind::Keys,
        name_characters: "-@",
        keywords: "@media @import @use @include @mixin @extend @keyframes @font-face @supports @layer @container !important",
        ..CODE
    },
    Language {
        names: "graphql gql proto protobuf thrift capnp",
        line_comments: "// #",
        keywords: "query mutation subscription fragment on type input interface union enum scalar schema extend implements \
            directive message service rpc returns import package option optional repeated required reserved oneof syntax",
        types: "bool bytes double float int int32 int64 string uint32 uint64 map",
        ..CODE
    },
    Language {
        names: "zig",
        strings: "\" '",
        name_characters: "@",
        keywords: "addrspace align and anytype asm async await break catch comptime const continue defer else enum errdefer error \
            export extern fn for if inline noalias noinline opaque or orelse packed pub resume return struct suspend \
            switch test threadlocal try union unreachable usingnamespace var volatile while",
        values: "true false null undefined",
        types: "bool u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 void type anyerror noreturn",
        ..CODE
    },
    Language {
        names: "vim vimscript viml",
        line_comments: "\"",
        strings: "'",
        block_comment: ("", ""),
        name_characters: ":#",
        keywords: "let if else elseif endif for endfor while endwhile function endfunction return call set autocmd augroup command \
            nnoremap inoremap vnoremap noremap map execute",
        has_capital_types: false,
        ..CODE
    },
    Language {
        names: "latex tex bib",
        line_comments: "%",
        block_comment: ("", ""),
        // Formulas between dollar signs.
        strings: "$",
        name_characters: "\\@",
        has_capital_types: false,
        ..CODE
    },
    Language {
        names: "html htm xhtml xml svg vue svelte xsl xsd plist rss atom xaml jinja jinja2 erb ejs handlebars",
        kind: Kind::Tags,
        line_comments: "",
        block_comment: ("<!--", "-->"),
        ..CODE
    },
    Language { names: "diff patch udiff", kind: Kind::Lines, ..HASH },
    Language { names: "markdown md mdx rst asciidoc", kind: Kind::Lines, line_comments: "", ..HASH },
];
