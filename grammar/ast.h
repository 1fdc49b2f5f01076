// The tree of a rule file, as it was written.
//
// One struct for each construct of the grammar (LANGUAGE.md), each with the Span it was read from.
// The tree says what stands in the file and nothing of what it means: holes are not resolved,
// names not looked up, includes not spliced, regexes not compiled. Compile (engine/compile.h) does
// that. Everything is a plain value and can be copied.
//
//   ParseResult parsed = Parse(source);                    // parser.h
//   for (const ast::Statement& s : parsed.file.statements)
//     if (auto* rule = std::get_if<ast::Rule>(&s.node)) ...
#ifndef REKEY_GRAMMAR_AST_H_
#define REKEY_GRAMMAR_AST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "grammar/source.h"

namespace rekey::ast {

struct Target;

// {...} arithmetic, guards, operation arguments, literals.
struct Expr {
  enum class Kind {
    kInteger,  // integer
    kReal,     // real
    kText,     // text: a quoted text, unescaped
    kGroup,    // integer: \0 .. \9
    kName,     // text: a param, let, hole, dtype word, `rank`, `dtype`
    kCall,     // text(args): a table, dots, slashes, meta, dim, zeros, ...
    kHas,      // has(target)
    kList,     // [args]
    kUnary,    // text is "-" or "not"; args[0]
    kBinary,   // text is the operator: + - * / // % == != <= >= < > and or; args[0], args[1]
  };
  Kind kind = Kind::kInteger;
  bool parens = false;  // written in ( ); the span takes them in
  Span span;
  int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<Expr> args;
  std::shared_ptr<const Target> target;  // kHas only
};

// {name:kind|kind} in a pattern.
struct Hole {
  Span span;
  std::string name;                // "_" when unnamed
  std::vector<std::string> kinds;  // words after ':', in order: int, any, 03, a table, words
};

struct Pattern {
  struct Part {
    Span span;
    std::string text;          // literal text, unescaped; used when there is no hole
    std::optional<Hole> hole;  // else the hole
  };
  Span span;
  bool quoted = false;
  bool is_regex = false;
  Span regex_span;          // the text between the slashes, for messages about a column inside it
  std::string regex;        // that text, with `\/` kept as written (RE2 takes it)
  std::vector<Part> parts;  // when not a regex; neighbouring literal texts are one part
};

struct Target {
  struct Part {
    enum class Kind { kText, kExpr, kGroup };
    Kind kind = Kind::kText;
    Span span;
    std::string text;          // kText, unescaped
    std::optional<Expr> expr;  // kExpr: {expr}
    int pad = 0;               // kExpr: {expr:0N} pads with zeros to N digits; 0 = no padding
    int group = 0;             // kGroup: \N
  };
  Span span;
  bool quoted = false;
  std::vector<Part> parts;  // empty for ""
};

struct Range {  // a..b, b not included
  Expr begin;
  Expr end;
};

struct Arg {
  Span span;
  std::string name;               // "" when positional
  Expr value;                     // the begin of the range when there is one
  std::optional<Expr> range_end;  // slice(0, a..b)
};

struct Op {  // | name(args)
  Span span;
  std::string name;
  Span name_span;
  std::vector<Arg> args;
  bool has_parens = false;
};

struct By {
  Span span;
  std::string hole;
  std::optional<Range> range;
};

struct For {  // for i in a..b   |   for PATTERN
  Span span;
  std::string name;  // with range
  std::optional<Range> range;
  std::optional<Pattern> pattern;
};

// f32[2, 3]; `dims` is absent when only the dtype is written. The dtype is a word as written.
struct TensorType {
  Span span;
  std::string dtype;
  std::optional<std::vector<Expr>> dims;
};

// --- Statements -------------------------------------------------------------------------------

struct Version {
  int64_t number = 0;
};                 // rekey 1
struct Strict {};  // strict
struct Include {
  std::string path;
  Span path_span;
};  // include "common/unwrap.rekey"
struct Require {
  Expr condition;
  std::optional<std::string> why;
};
struct Param {
  std::string name;
  Span name_span;
  std::string type;  // "int", "float", "text", "bool", or "" when not written
  std::optional<Expr> value;
};
struct Let {
  std::string name;
  Span name_span;
  Expr value;
};
struct Table {
  struct Row {
    Span span;
    std::string key;
    Target value;
  };  // a value may hold {expr} over params
  std::string name;
  Span name_span;
  std::vector<Row> rows;
};
struct SourceLine {
  Pattern pattern;
  Target target;
  std::optional<Expr> guard;
};  // source P -> T
struct SinkLine {
  Pattern pattern;
  Target target;
};  // sink P -> T
struct Select {
  bool all = false;
  std::string path;
};
struct Strip {
  enum class Mode { kFront, kAll, kAnywhere, kSuffix };
  struct Text {
    Span span;
    std::string text;
  };
  bool maybe = false;  // strip?
  Mode mode = Mode::kFront;
  std::vector<Text> texts;
};
struct Rename {
  bool maybe = false;
  Pattern pattern;
  Target target;
};
struct Affix {
  bool suffix = false;
  Target target;
};  // prefix T, suffix T

enum class Verb { kMap, kKeep, kDrop, kMerge, kSplit };

struct Rule {
  Verb verb = Verb::kMap;
  bool maybe = false;
  bool source_list = false;  // merge [A, B]
  std::vector<Pattern> sources;
  Span sources_span;            // with the brackets
  bool target_list = false;     // split P -> [T1, T2]
  std::vector<Target> targets;  // empty: no arrow
  Span targets_span;
  std::optional<Target> same_as;  // drop P same as K
  std::vector<By> by;
  std::optional<Expr> guard;
  std::vector<Op> ops;
};

struct Statement;

struct Scope {  // in P -> Q if G { rules }
  bool maybe = false;
  Pattern pattern;
  std::optional<Target> target;
  std::optional<Expr> guard;
  std::vector<Statement> body;  // Rule and Scope only
};

struct Else {
  enum class Mode { kPass, kDrop, kError };
  Mode mode = Mode::kPass;
  std::optional<std::string> why;
};
struct Then {
  std::optional<std::string> name;
};

struct Fill {
  bool maybe = false;
  Target target;
  Expr value;
  std::string dtype;  // as written: Compile knows which words are dtypes
  Span dtype_span;
  std::optional<For> loop;
  std::vector<Op> ops;
};
struct Copy {
  bool maybe = false;
  Pattern pattern;
  Target target;
};
struct Tie {
  bool maybe = false;
  Target name;
  Target of;
};  // tie name = of

struct Expect {
  enum class Kind { kCount, kError, kNo, kTensor };
  Kind kind = Kind::kTensor;
  std::optional<Expr> count;           // kCount
  std::optional<std::string> message;  // kError: a text that the message must hold
  std::optional<Pattern> pattern;      // kNo, and kTensor when the key is a regex
  std::optional<Target> target;        // kTensor
  std::optional<TensorType> type;      // kTensor: after ':'
  std::optional<Expr> value;           // kTensor: after '='
  std::optional<For> loop;
};

struct With {
  std::string name;
  Span name_span;
  Expr value;
};
struct Given {
  Target target;
  std::optional<TensorType> type;
  std::optional<Expr> value;
  std::optional<For> loop;
};
struct Arrow {  // key => dropped | kept | passed | target
  enum class Outcome { kTarget, kDropped, kKept, kPassed };
  Target key;
  Outcome outcome = Outcome::kTarget;
  std::optional<Target> target;
};
struct TestLine {
  Span span;
  std::variant<With, Given, Expect, Arrow> node;
};
struct Test {
  std::string name;
  std::vector<TestLine> lines;
};

struct Statement {
  Span span;  // without leading blanks and trailing comment
  std::variant<Version, Strict, Include, Require, Param, Let, Table, SourceLine, SinkLine, Select,
               Strip, Rename, Affix, Rule, Scope, Else, Then, Fill, Copy, Tie, Expect, Test>
      node;
};

struct Comment {
  Span span;  // from '#' to the end of the line, without trailing blanks
  bool own_line = false;
};

struct File {
  std::shared_ptr<const Source> source;
  std::vector<Statement> statements;
  std::vector<Comment> comments;  // in file order; fmt puts them back where they stood
};

}  // namespace rekey::ast

#endif  // REKEY_GRAMMAR_AST_H_
