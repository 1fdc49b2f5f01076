#include "engine/regex_text.h"

#include <algorithm>
#include <cctype>

#include "engine/regex.h"

namespace rekey {
namespace {

bool IsNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// One element of a regex: a character, an escape, a class, a bracket. Enough for lints; RE2 is the
// judge of what is valid.
struct Token {
  size_t begin;
  size_t size;
  char first;
};

size_t ClassSize(std::string_view text) {
  size_t at = 1;
  if (at < text.size() && text[at] == '^') ++at;
  if (at < text.size() && text[at] == ']') ++at;
  while (at < text.size() && text[at] != ']') {
    if (text[at] == '\\') {
      ++at;
    } else if (text.substr(at).starts_with("[:")) {
      const size_t close = text.find(":]", at);
      if (close != std::string_view::npos) at = close + 1;
    }
    ++at;
  }
  return std::min(at + 1, text.size());
}

std::vector<Token> Tokens(std::string_view text) {
  std::vector<Token> tokens;
  for (size_t at = 0; at < text.size();) {
    size_t size = 1;
    if (text[at] == '\\') size = std::min<size_t>(2, text.size() - at);
    if (text[at] == '[') size = ClassSize(text.substr(at));
    tokens.push_back({at, size, text[at]});
    at += size;
  }
  return tokens;
}

bool IsQuantifier(const Token& token) {
  return token.first == '*' || token.first == '+' || token.first == '?' || token.first == '{';
}

class Reader {
 public:
  Reader(const ast::Pattern& pattern, Diagnostics* diagnostics)
      : pattern_(pattern), text_(pattern.regex), diagnostics_(diagnostics) {}

  RegexText Read(bool whole_key) {
    RegexText result;
    if (whole_key) TakeOffAnchors();
    result.text = text_;
    tokens_ = Tokens(text_);
    if (!Compile(&result)) return result;
    LintDots();
    if (whole_key) LintLeadingAny();
    result.prefix = Prefix();
    result.ok = true;
    return result;
  }

 private:
  Span SpanOf(size_t begin, size_t size) const {
    const uint32_t at = pattern_.regex_span.begin + static_cast<uint32_t>(taken_ + begin);
    return {pattern_.regex_span.source, at, at + static_cast<uint32_t>(size)};
  }
  void Report(Diagnostic diagnostic) { diagnostics_->push_back(std::move(diagnostic)); }

  void LintAnchor(size_t at) {
    Report(Warning("redundant-anchor", "`" + text_.substr(at, 1) + "` says nothing here")
               .At(SpanOf(at, 1))
               .Note("a pattern matches the whole key")
               .Help("leave it out"));
  }

  void TakeOffAnchors() {
    const std::vector<Token> tokens = Tokens(text_);
    if (tokens.size() > 1 && tokens.back().first == '$') {
      LintAnchor(tokens.back().begin);
      text_.pop_back();
    }
    if (tokens.size() > 1 && tokens.front().first == '^') {
      LintAnchor(0);
      text_.erase(0, 1);
      taken_ = 1;
    }
  }

  bool Compile(RegexText* result) {
    if (!CheckGroups()) return false;
    const re2::RE2 re(text_, RegexOptions());
    if (!re.ok()) {
      const std::string fragment(re.error_arg().data(), re.error_arg().size());
      const size_t at = fragment.empty() ? std::string::npos : text_.find(fragment);
      const Span span = at == std::string::npos ? pattern_.regex_span : SpanOf(at, fragment.size());
      return Fail(span, "the regex is wrong: " + re.error(), fragment);
    }
    result->groups.resize(static_cast<size_t>(re.NumberOfCapturingGroups()) + 1);
    for (const auto& [group, name] : re.CapturingGroupNames())
      result->groups[static_cast<size_t>(group)] = name;
    return true;
  }

  // What other regex dialects write behind `(?`, told the same way by every version of RE2.
  bool CheckGroups() {
    for (size_t i = 0; i + 2 < tokens_.size(); ++i) {
      if (tokens_[i].first != '(' || tokens_[i + 1].first != '?') continue;
      const size_t at = tokens_[i].begin;
      const std::string_view rest = std::string_view(text_).substr(at + 2);
      const bool behind = rest.starts_with("<=") || rest.starts_with("<!");
      if (behind || rest[0] == '=' || rest[0] == '!') {
        Report(Error("regex", "a regex has no lookaround")
                   .At(SpanOf(at, behind ? 4 : 3))
                   .Help("an earlier `keep` or `drop` claims the exception"));
        return false;
      }
      if (rest[0] == '<') {
        Report(Error("regex", "a group is named with `(?P<name>`").At(SpanOf(at, 3)));
        return false;
      }
    }
    return true;
  }

  bool Fail(Span span, std::string message, std::string_view fragment) {
    Diagnostic error = Error("regex", std::move(message)).At(span);
    if (fragment.size() == 2 && fragment[0] == '\\' && std::isdigit(fragment[1]))
      error.Note("regexes are RE2's, which have no backreferences");
    Report(std::move(error));
    return false;
  }

  // a.b, (\d+).b, ].b: almost always a dot was meant.
  void LintDots() {
    const auto is_name = [this](size_t i) {
      return tokens_[i].size == 1 && IsNameChar(tokens_[i].first);
    };
    for (size_t i = 1; i + 1 < tokens_.size(); ++i) {
      if (tokens_[i].first != '.' || IsQuantifier(tokens_[i + 1])) continue;
      const char before = tokens_[i - 1].first, after = tokens_[i + 1].first;
      const bool left = is_name(i - 1), right = is_name(i + 1);
      const bool joins_left =
          left || before == ')' || before == ']' || IsQuantifier(tokens_[i - 1]);
      const bool joins_right = right || after == '(' || after == '[';
      if (!(left || right) || !joins_left || !joins_right) continue;
      Report(Warning("unescaped-dot", "`.` matches any character here")
                 .At(SpanOf(tokens_[i].begin, 1))
                 .Help("write `\\.` for a dot"));
    }
  }

  // `.*` at the front, unless a separator follows, also takes half a segment.
  void LintLeadingAny() {
    size_t first = 0;
    while (first < tokens_.size() && tokens_[first].first == '(') ++first;
    if (first + 2 >= tokens_.size() || tokens_[first].first != '.' ||
        tokens_[first + 1].first != '*')
      return;
    size_t next = first + 2;
    while (next < tokens_.size() && (tokens_[next].first == ')' || tokens_[next].first == '?'))
      ++next;
    if (next >= tokens_.size()) return;
    const std::string after = text_.substr(tokens_[next].begin, tokens_[next].size);
    if (after == "\\." || after == "\\/" || after == "/" || after == "[./]") return;
    Report(Warning("leading-any", "`.*` in front also matches the first half of a segment")
               .At(SpanOf(tokens_[first].begin, 2))
               .Help("end it at a separator: `.*\\.`"));
  }

  // The literal characters at the front.
  std::string Prefix() const {
    const bool alternatives = std::any_of(tokens_.begin(), tokens_.end(),
                                          [](const Token& token) { return token.first == '|'; });
    std::string prefix;
    if (alternatives) return prefix;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      const bool escaped = token.size == 2 && token.first == '\\' &&
                           std::ispunct(static_cast<unsigned char>(text_[token.begin + 1]));
      const bool literal =
          token.size == 1 &&
          std::string_view("\\^$.|?*+()[]{}").find(token.first) == std::string_view::npos;
      if (IsQuantifier(token)) {  // the last character may be absent
        while (!prefix.empty() && (prefix.back() & 0xc0) == 0x80) prefix.pop_back();
        if (!prefix.empty()) prefix.pop_back();
        return prefix;
      }
      if (!escaped && !literal) return prefix;
      prefix += text_[token.begin + token.size - 1];
    }
    return prefix;
  }

  const ast::Pattern& pattern_;
  std::string text_;
  size_t taken_ = 0;  // characters taken off the front
  std::vector<Token> tokens_;
  Diagnostics* diagnostics_;
};

}  // namespace

RegexText ReadRegex(const ast::Pattern& pattern, bool whole_key, Diagnostics* diagnostics) {
  return Reader(pattern, diagnostics).Read(whole_key);
}

std::string EscapeRegex(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace rekey
