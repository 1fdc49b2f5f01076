#include "grammar/hints.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "grammar/printable.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

constexpr std::array<std::string_view, 26> kStatements = {
    "map",    "keep",  "drop",   "merge", "split",  "in",     "strip",   "rename", "prefix",
    "suffix", "else",  "then",   "fill",  "copy",   "tie",    "expect",  "test",   "param",
    "let",    "table", "source", "sink",  "select", "strict", "require", "include"};
constexpr std::array<std::string_view, 6> kScopeStatements = {"map",   "keep",  "drop",
                                                              "merge", "split", "in"};

// Words of other tools and what they are called here.
struct Synonym {
  std::string_view word;
  std::string_view verb;
};
constexpr Synonym kSynonyms[] = {
    {"delete", "drop"},    {"remove", "drop"},    {"ignore", "drop"},      {"skip", "drop"},
    {"replace", "rename"}, {"sub", "rename"},     {"move", "map"},         {"join", "merge"},
    {"concat", "merge"},   {"stack", "merge"},    {"cat", "merge"},        {"chunk", "split"},
    {"alias", "tie"},      {"default", "else"},   {"import", "include"},   {"assert", "expect"},
    {"var", "let"},        {"const", "let"},      {"set", "let"},          {"arg", "param"},
    {"next", "then"},      {"pass", "else pass"}, {"error", "else error"},
};

bool TextChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("_.:/@%~-").find(c) != std::string_view::npos;
}

std::string Quote(std::string_view text) { return "`" + std::string(text) + "`"; }

// The word or the single character at `offset`.
Span WordAt(const Source& source, uint32_t offset) {
  const std::string_view rest = std::string_view(source.text()).substr(offset);
  size_t length = 0;
  if (rest.substr(0, 2) == "->" || rest.substr(0, 2) == "=>") {
    length = 2;
  } else {
    while (length < rest.size() && TextChar(rest[length])) ++length;
  }
  char32_t code;
  if (length == 0) length = std::max<size_t>(1, DecodeUtf8(rest, &code));
  return {&source, offset, static_cast<uint32_t>(offset + length)};
}

bool AtLineEnd(std::string_view text, size_t at) {
  return at >= text.size() || text[at] == '\n' || text.substr(at, 2) == "\r\n";
}

// The line up to `offset`, for advice that depends on what was written before.
std::string_view Before(const Source& source, uint32_t offset) {
  const Location at = source.Locate(offset);
  return source.Line(at.line).substr(0, at.column - 1);
}

// Whether `at` follows the first word of its line.
bool AfterFirstWord(const Source& source, uint32_t at) {
  const std::string_view before = Before(source, at);
  const size_t word = before.find_first_not_of(" \t");
  return word != std::string_view::npos &&
         std::all_of(before.begin() + word, before.end(),
                     [](unsigned char c) { return std::isalpha(c); });
}

constexpr char kMaybeVerbs[] =
    "`?` (the statement may match nothing) follows `map keep drop merge split in strip rename fill "
    "copy tie`";
constexpr char kQuotedKeys[] =
    "a key that holds other characters than letters, digits and `_ . : / @ % ~ -` is quoted";

// Advice for a character that has no place in a rule, or not this one.
std::string AdviceOnCharacter(const Source& source, uint32_t offset, std::string_view rest,
                              char previous, char bracket) {
  const char at = rest[0];
  const bool digit = rest.size() > 1 && std::isdigit(static_cast<unsigned char>(rest[1]));
  switch (at) {
    case '*':
      return "`*` is no wildcard: write `{x}` for one segment, `{x:any}` for any text, or a "
             "/regex/";
    case '$':
      if (digit) return "write `\\" + std::string(1, rest[1]) + "` for that group of a /regex/";
      return "`$` has no meaning here: write `{name}` for a hole, a param or a named group, and "
             "`\\1` for a group of a /regex/";
    case '#':
      return "a comment needs a blank before `#`; a key that holds `#` is quoted";
    case '\'':
      return "texts are quoted with `\"`";
    case '>':
      return previous == '-' ? "write a blank before `->`" : "";
    case '&':
      return rest.substr(0, 2) == "&&" ? "write `and`" : kQuotedKeys;
    case '|':
      return previous == '|' ? "write `or`" : "";
    case '!':
      return rest.substr(0, 2) == "!=" ? "" : "write `not`";
    case '=':
      if (rest.substr(0, 2) == "=>") return "`key => key` is a line of a test; a rule has `->`";
      return Before(source, offset).find(" if ") != std::string_view::npos ? "`==` compares" : "";
    case '\\':
      return digit ? "`\\1` stands in targets only; RE2 has no references back into a pattern"
                   : "outside a /regex/, `\\` stands before `\\ { } \"` only";
    case '[':
      return "only `merge` takes a list of sources, only `split` a list of targets";
    case '?':
      if (AfterFirstWord(source, offset)) return kMaybeVerbs;
      [[fallthrough]];
    case '(':
    case ')':
    case '+':
    case '^':
      if (bracket != 0) return "";
      return std::string("a regex stands between slashes: `/.../`; ") + kQuotedKeys;
    case ';':
      return "a statement ends with its line";
    default:
      return static_cast<unsigned char>(at) >= 0x80 ? kQuotedKeys : "";
  }
}

// Advice for what stands at the place of a syntax error; empty when there is none. `bracket` is the
// innermost one that is open there, or 0; `expected` the message.
std::string Advice(const Source& source, uint32_t offset, char bracket, std::string_view expected) {
  const std::string_view text = source.text();
  const std::string_view rest = text.substr(std::min<size_t>(offset, text.size()));
  const char previous = offset > 0 ? text[offset - 1] : '\n';
  if (bracket == '{')
    return previous == '{' && AtLineEnd(text, offset) ? "write a blank before the `{` of a block"
                                                      : "";
  if (bracket == '"') return rest.substr(0, 1) == "}" ? "write `\\}` for a brace in a text" : "";
  if (bracket == '/' || rest.empty()) return "";
  const std::string_view before = Before(source, offset);
  const size_t last = before.find_last_not_of(" \t");
  if (TextChar(rest[0])) {
    const std::string_view word = WordAt(source, offset).Text();
    if (previous == '/') return "an unescaped `/` ends a regex, also inside `[ ]`: write `\\/`";
    if (expected.find("`:`") != std::string_view::npos && last != std::string_view::npos &&
        before[last] == ':')
      return "write a blank before `:`";
    if (word == "by") return "`by` belongs to `merge` and `split`";
    if (word == "if") return "this statement takes no `if` here";
    return "";
  }
  return AdviceOnCharacter(source, offset, rest, previous, bracket);
}

// An opening bracket is worth pointing at where its end is missed, or if it is far away.
bool MissesItsEnd(const Source& source, uint32_t opening, uint32_t offset,
                  std::string_view message) {
  return message.find("close") != std::string_view::npos || AtLineEnd(source.text(), offset) ||
         source.Locate(opening).line != source.Locate(offset).line;
}

std::string Found(const Source& source, uint32_t offset) {
  const std::string_view text = source.text();
  if (offset >= text.size()) return "the file ends here";
  if (AtLineEnd(text, offset)) return "the line ends here";
  return "found " + Quote(WordAt(source, offset).Text());
}

// " or " between the last two: `strip`, `split` or `map`.
std::string Alternatives(const std::vector<std::string_view>& words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += Quote(words[i]);
  }
  return out;
}

template <size_t N>
std::string DidYouMean(std::string_view word, const std::array<std::string_view, N>& statements) {
  for (const Synonym& synonym : kSynonyms)
    if (synonym.word == word &&
        std::find(statements.begin(), statements.end(),
                  synonym.verb.substr(0, synonym.verb.find(' '))) != statements.end())
      return "it is called " + Quote(synonym.verb) + " here";
  const auto near = Nearest(word, {statements.begin(), statements.end()});
  return near.empty() ? "" : "did you mean " + Alternatives(near) + "?";
}

bool IsWord(std::string_view text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text[0]));
}

std::string_view WithoutMaybe(std::string_view word) { return word.substr(0, word.find('?')); }

template <size_t N>
bool Contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A block that was meant to be closed by this line's `}`, or a line that begins with a symbol.
Diagnostic NotAStatement(Span first) {
  if (first.Text() == "}")
    return Error("syntax", "`}` closes nothing").At(first, "no block is open here");
  Diagnostic error = Error("syntax", "a line begins with the name of a statement");
  error.At(WordAt(*first.source, first.begin), Found(*first.source, first.begin));
  if (first.Text() == "|")
    error.Help(
        "a line that begins with `|` continues a rule; there is none above it that can be "
        "continued");
  return error;
}

}  // namespace

Diagnostic SyntaxError(const Source& source, uint32_t offset, std::string_view message,
                       const std::vector<uint32_t>& open) {
  const std::string_view text = source.text();
  while (offset < text.size() && (text[offset] == ' ' || text[offset] == '\t')) ++offset;
  const size_t line_end = message.find('\n');
  Diagnostic error = Error("syntax", std::string(message.substr(0, line_end)));
  Span span{&source, offset, offset};
  if (!AtLineEnd(text, offset)) span = WordAt(source, offset);
  error.At(span, Found(source, offset));
  if (!open.empty() && MissesItsEnd(source, open.back(), offset, error.message))
    error.Also({&source, open.back(), open.back() + 1}, "opened here");
  const char bracket = open.empty() ? '\0' : text[open.back()];
  const std::string advice = Advice(source, offset, bracket, error.message);
  if (!advice.empty()) error.Help(advice);
  while (advice.empty() && message.find('\n') != std::string_view::npos) {
    message.remove_prefix(message.find('\n') + 1);
    error.Help(std::string(message.substr(0, message.find('\n'))));
  }
  return error;
}

Diagnostic UnknownStatement(Span word) {
  if (!IsWord(word.Text())) return NotAStatement(word);
  const std::string_view verb = WithoutMaybe(word.Text());
  if (Contains(kStatements, verb))
    return Error("syntax", "expected a blank after " + Quote(verb)).At(word);
  if (verb == "by" || verb == "if")
    return Error("syntax", Quote(verb) + " continues a rule, and there is none above it")
        .At(word)
        .Help("only a rule can be continued, and `by` and `if` stand before the first `|`");
  Diagnostic error = Error("unknown-verb", "unknown verb " + Quote(verb)).At(word, "not a verb");
  const std::string help = DidYouMean(verb, kStatements);
  error.Help(help.empty() ? "rules begin with `map keep drop merge split in`, edits with `strip "
                            "rename prefix suffix`"
                          : help);
  return error;
}

Diagnostic UnknownScopeStatement(Span word, Span opening) {
  if (!IsWord(word.Text())) return NotAStatement(word);
  const std::string_view verb = WithoutMaybe(word.Text());
  if (Contains(kStatements, verb) && !Contains(kScopeStatements, verb)) {
    return Error("statement-in-scope", Quote(verb) + " cannot stand in a scope")
        .At(word)
        .Also(opening, "the scope begins here")
        .Help("a scope holds rules only: " +
              Alternatives({kScopeStatements.begin(), kScopeStatements.end()}) +
              "; is the `}` above missing?");
  }
  Diagnostic error = Error("unknown-verb", "unknown verb " + Quote(verb)).At(word, "not a rule");
  const std::string help = DidYouMean(verb, kScopeStatements);
  error.Help(help.empty() ? "a scope holds rules only: " +
                                Alternatives({kScopeStatements.begin(), kScopeStatements.end()})
                          : help);
  return error;
}

Diagnostic UnknownTestLine(Span first) {
  return Error("syntax", "expected a line of a test")
      .At(first, "found " + Quote(first.Text()))
      .Help(
          "a test holds lines `with NAME = VALUE`, `given KEY = VALUE`, `expect KEY = VALUE` and "
          "`key => key`");
}

Diagnostic BareStripText(Span text) {
  return Error("unquoted-text", "the text to strip is written in quotes")
      .At(text, "no quotes")
      .Help("write `\"" + std::string(text.Text()) + "\"`");
}

Diagnostic LongGroup(Span group) {
  const std::string number(group.Text().substr(1, 1));
  const std::string digit(group.Text().substr(2, 1));
  return Error("ambiguous-group",
               "a group is one digit, and " + Quote(group.Text()) + " reads as two")
      .At(group)
      .Help("for group " + number + " and then a " + digit + ", write `{\\" + number + "}" + digit +
            "`")
      .Help("for a tenth group, name it: `(?P<name>...)` in the regex and `{name}` here");
}

Diagnostic UnknownEscape(Span escape) {
  return Error("unknown-escape", Quote(escape.Text()) + " is no escape")
      .At(escape)
      .Help("in a text, `\\` stands before `\\ { } \"`, and in a target before one digit");
}

Diagnostic LateClause(Span word) {
  const std::string clause = Quote(word.Text());
  return Error("late-clause", clause + " stands after the first `|`")
      .At(word)
      .Help("write " + clause + " before the first `|`");
}

Diagnostic TargetList(Span list) {
  return Error("merge-targets", "a merge has one target")
      .At(list, "a list")
      .Help("merge first, then split it in a second pass, after `then`");
}

}  // namespace rekey
