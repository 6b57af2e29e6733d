//! Syntax of widely used programming languages.

use super::{CODE, HASH, Language};

const C: &str = "auto break case const continue default do else enum extern for goto if inline register restrict return \
    sizeof static struct switch typedef union volatile while #include #define #if #ifdef #ifndef #else #elif #endif \
    #pragma #undef #error";
const C_TYPES: &str = "void char short int long float double signed unsigned bool size_t ssize_t int8_t int16_t int32_t \
    int64_t uint8_t uint16_t uint32_t uint64_t wchar_t FILE string vector map";
const JS: &str = "as async await break case catch class const continue debugger default delete do else export extends \
    finally for from function get if import in instanceof let new of return set static super switch this throw try \
    typeof var void while with yield";
const JS_VALUES: &str = "true false null undefined NaN Infinity";

pub(super) const LANGUAGES: &[Language] = &[
    Language {
        names: "rust rs",
        strings: "\"",
        multiline_strings: "\"",
        keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move \
            mut pub ref return self Self static struct super trait type union unsafe use where while",
        values: "true false None Some Ok Err",
        types: "bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64",
        ..CODE
    },
    Language {
        names: "python py pyi py3 python3 pycon ipython starlark bzl",
        strings: "\"\"\" ''' \" '",
        keywords: "and as assert async await break class continue def del elif else except finally for from global if import \
            in is lambda match case nonlocal not or pass raise return try while with yield self cls",
        values: "True False None Ellipsis NotImplemented",
        types: "int str float bool bytes list dict set tuple object complex frozenset",
        ..HASH
    },
    Language {
        names: "javascript js jsx mjs cjs node",
        strings: "` \" '",
        name_characters: "$",
        keywords: JS,
        values: JS_VALUES,
        ..CODE
    },
    Language {
        names: "typescript ts tsx mts cts deno",
        strings: "` \" '",
        name_characters: "$",
        keywords: "abstract as asserts async await break case catch class const constructor continue debugger declare default \
            delete do else enum export extends finally for from function get if implements import in infer instanceof \
            interface is keyof let module namespace new of override private protected public readonly return satisfies \
            set static super switch this throw try type typeof var void while with yield",
        values: JS_VALUES,
        types: "any boolean bigint never number object string symbol unknown",
        ..CODE
    },
    Language { names: "c h objc objective-c m", keywords: C, values: "true false NULL", types: C_TYPES, ..CODE },
    Language {
        names: "cpp c++ cc cxx hpp hh hxx h++ cuda cu ino arduino",
        keywords: "alignas auto break case catch class co_await co_return co_yield concept const const_cast consteval constexpr \
            continue decltype default delete do dynamic_cast else enum explicit export extern final for friend goto if \
            inline mutable namespace new noexcept operator override private protected public reinterpret_cast requires \
            return sizeof static static_cast struct switch template this throw try typedef typename union using virtual \
            volatile while #include #define #if #ifdef #ifndef #else #elif #endif #pragma #undef",
        values: "true false nullptr NULL",
        types: C_TYPES,
        ..CODE
    },
    Language {
        names: "csharp c# cs csx",
        keywords: "abstract as async await base break case catch checked class const continue default delegate do else enum \
            event explicit extern finally fixed for foreach get goto if implicit in init interface internal is lock \
            namespace new operator out override params partial private protected public readonly record ref return \
            sealed set sizeof stackalloc static struct switch this throw try typeof unchecked unsafe using var virtual \
            volatile when where while yield",
        types: "bool byte char decimal double dynamic float int long object sbyte short string uint ulong ushort void",
        ..CODE
    },
    Language {
        names: "java",
        strings: "\"\"\" \" '",
        keywords: "abstract assert break case catch class continue default do else enum extends final finally for if implements \
            import instanceof interface native new package permits private protected public record return sealed static \
            super switch synchronized this throw throws transient try var volatile while yield",
        types: "boolean byte char double float int long short void",
        ..CODE
    },
    Language {
        names: "kotlin kt kts gradle groovy",
        strings: "\"\"\" \" '",
        keywords: "abstract as break by catch class companion const constructor continue data def do else enum final finally \
            for fun if import in infix init inline interface internal is it lateinit object open operator out override \
            package private protected public return sealed super suspend this throw try typealias val var when where while",
        ..CODE
    },
    Language {
        names: "scala sc sbt",
        strings: "\"\"\" \"",
        keywords: "abstract case catch class def do else enum export extends extension final finally for given if implicit \
            import lazy match new object override package private protected return sealed super then this throw trait \
            try type using val var while with yield",
        ..CODE
    },
    Language {
        names: "swift",
        strings: "\"\"\" \"",
        keywords: "actor as associatedtype async await break case catch class continue default defer deinit do else enum \
            extension fallthrough fileprivate for func guard if import in init inout internal is lazy let mutating open \
            operator override private protocol public repeat rethrows return self Self static struct subscript super \
            switch throw throws try typealias var weak where while",
        values: "true false nil",
        ..CODE
    },
    Language {
        names: "go golang",
        strings: "` \" '",
        keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface map \
            package range return select struct switch type var",
        values: "true false nil iota",
        types: "any bool byte complex128 complex64 error float32 float64 int int16 int32 int64 int8 rune string uint uint16 \
            uint32 uint64 uint8 uintptr",
        ..CODE
    },
    Language {
        names: "dart",
        keywords: "abstract as assert async await break case catch class const continue covariant default do else enum export \
            extends extension external factory final finally for get if implements import in interface is late library \
            mixin new on operator part required rethrow return set static super switch this throw try typedef var void \
            while with yield",
        types: "bool double dynamic int num",
        ..CODE
    },
];
