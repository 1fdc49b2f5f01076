#include "engine/edit.h"

#include <algorithm>
#include <utility>

#include "engine/regex.h"

namespace rekey {
namespace {

bool IsSeparator(char c) { return c == '.' || c == '/'; }

bool IsSegmentEnd(std::string_view key, size_t at) {
  return at == 0 || at == key.size() || IsSeparator(key[at - 1]) || IsSeparator(key[at]);
}

// Taking [begin, end) out of the key must not glue two segments together.
bool StaysApart(std::string_view before, std::string_view after) {
  return before.empty() || after.empty() || IsSeparator(before.back()) ||
         IsSeparator(after.front());
}

// --- strip --------------------------------------------------------------------------------------

// The key without the first of `texts` that leads it; the key itself if none does.
std::string_view StripFront(const std::vector<std::string>& texts, std::string_view key) {
  for (const std::string& text : texts)
    if (key.size() > text.size() && key.starts_with(text) && IsSegmentEnd(key, text.size()))
      return key.substr(text.size());
  return key;
}

std::string_view StripAll(const std::vector<std::string>& texts, std::string_view key) {
  for (;;) {
    const std::string_view rest = StripFront(texts, key);
    if (rest.size() == key.size()) return key;
    key = rest;
  }
}

std::string_view StripSuffix(const std::vector<std::string>& texts, std::string_view key) {
  for (const std::string& text : texts) {
    if (key.size() <= text.size() || !key.ends_with(text)) continue;
    const size_t cut = key.size() - text.size();
    if (text.starts_with(':') || IsSegmentEnd(key, cut)) return key.substr(0, cut);
  }
  return key;
}

// Builds the result from left to right; a text is taken off as soon as the result ends with it at a
// segment end, so that what its removal brings together is found too, in linear time.
std::string_view StripAnywhere(const std::vector<std::string>& texts, std::string_view key,
                               std::string* out) {
  if (std::none_of(texts.begin(), texts.end(), [&](const std::string& text) {
        return key.find(text) != std::string_view::npos;
      }))
    return key;
  out->clear();
  const auto strip_end = [&](std::string_view rest) {
    for (const std::string& text : texts) {
      if (!out->ends_with(text)) continue;
      const size_t begin = out->size() - text.size();
      if ((begin == 0 && rest.empty()) || !IsSegmentEnd(*out, begin)) continue;
      if (!StaysApart(std::string_view(*out).substr(0, begin), rest)) continue;
      out->resize(begin);
      return;
    }
  };
  for (size_t i = 0; i < key.size(); ++i) {
    out->push_back(key[i]);
    if (IsSegmentEnd(key, i + 1)) strip_end(key.substr(i + 1));
  }
  return out->size() == key.size() ? key : std::string_view(*out);
}

// --- rename -------------------------------------------------------------------------------------

// True if every match of the pattern ends in a separator, as far as its text shows.
bool EndsInSeparator(const KeyPattern& pattern) {
  std::string_view regex = pattern.regex;
  if (pattern.is_regex && regex.find('|') != std::string_view::npos) return false;
  while (regex.ends_with(')') && !regex.ends_with("\\)")) regex.remove_suffix(1);
  return regex.ends_with("\\.") || regex.ends_with("/") || regex.ends_with("[./]") ||
         regex.ends_with("[/.]");
}

std::string_view ReplaceLiteral(const std::string& from, const KeyTarget& target, const Env& env,
                                std::string_view key, std::string* out, Status* status) {
  size_t done = 0;
  bool found = false;
  for (size_t at = key.find(from); at != std::string_view::npos && !from.empty();) {
    if (!IsSegmentEnd(key, at) || !IsSegmentEnd(key, at + from.size())) {
      at = key.find(from, at + 1);
      continue;
    }
    if (!found) out->clear();
    found = true;
    out->append(key.substr(done, at - done));
    *status = target.Print(env, out);
    if (!status->ok()) return key;
    done = at + from.size();
    at = key.find(from, done);
  }
  if (!found) return key;
  out->append(key.substr(done));
  return out->empty() ? key : std::string_view(*out);
}

}  // namespace

// Finds runs of whole segments that a pattern fits. RE2 has no lookaround, so the separators on
// both sides are part of its regex; a separator may serve the runs on both of its sides.
class Editor::RunFinder {
 public:
  explicit RunFinder(const KeyPattern& pattern)
      : pattern_(pattern),
        lead_(pattern.prefix.empty() || !IsSeparator(pattern.prefix[0])),
        re_((lead_ ? "(?:^|[./])(" : "(") + pattern.regex +
                (EndsInSeparator(pattern) ? ")" : ")(?:[./]|$)"),
            RegexOptions()) {}

  // The first run that begins at `from` or later, with the variables; false if there is none.
  bool Find(std::string_view key, size_t from, size_t* begin, size_t* end,
            std::vector<std::string_view>* variables) const {
    const int count = re_.NumberOfCapturingGroups() + 1;
    std::vector<re2::StringPiece> matches(static_cast<size_t>(count));
    const re2::StringPiece text(key.data(), key.size());
    // The separator before the run may be the last character of the run before.
    size_t at = lead_ && from > 0 && IsSeparator(key[from - 1]) ? from - 1 : from;
    for (; at <= key.size(); ++at) {
      if (!re_.Match(text, at, key.size(), re2::RE2::UNANCHORED, matches.data(), count))
        return false;
      *begin = static_cast<size_t>(matches[1].data() - key.data());
      *end = *begin + matches[1].size();
      if (*end > *begin) break;
      at = *begin;  // an empty run is none
    }
    if (at > key.size()) return false;
    variables->assign(pattern_.groups.size(), std::string_view());
    for (size_t i = 0; i < pattern_.groups.size(); ++i) {
      if (pattern_.groups[i] < 0) continue;
      const re2::StringPiece& group = matches[static_cast<size_t>(pattern_.groups[i]) + 1];
      (*variables)[i] = std::string_view(group.data(), group.size());
    }
    return true;
  }

  Result<std::string_view> Replace(const KeyTarget& target, std::string_view key,
                                   std::string* out) const {
    size_t done = 0, from = 0, begin = 0, end = 0;
    bool found = false;
    std::vector<std::string_view> variables;
    Env env;
    env.variables = &variables;
    while (from < key.size() && Find(key, from, &begin, &end, &variables)) {
      if (!found) out->clear();
      found = true;
      out->append(key.substr(done, begin - done));
      if (Status printed = target.Print(env, out); !printed.ok()) return std::move(printed).error();
      done = from = end;
    }
    if (!found) return key;
    out->append(key.substr(done));
    return out->empty() ? key : std::string_view(*out);
  }

 private:
  const KeyPattern& pattern_;
  bool lead_;
  re2::RE2 re_;
};

Editor::Editor(const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) {
    edits_.push_back(&edit);
    const bool search = edit.kind == Edit::Kind::kRename && !edit.pattern->is_literal;
    finders_.push_back(search ? std::make_unique<RunFinder>(*edit.pattern) : nullptr);
  }
}

Editor::~Editor() = default;

Result<std::string_view> Editor::Apply(size_t i, std::string_view key, std::string* scratch) const {
  const Edit& edit = *edits_[i];
  switch (edit.kind) {
    case Edit::Kind::kStripFront:
      return StripFront(edit.texts, key);
    case Edit::Kind::kStripAll:
      return StripAll(edit.texts, key);
    case Edit::Kind::kStripSuffix:
      return StripSuffix(edit.texts, key);
    case Edit::Kind::kStripAnywhere:
      return StripAnywhere(edit.texts, key, scratch);
    case Edit::Kind::kRename:
      break;
  }
  if (finders_[i]) return finders_[i]->Replace(*edit.target, key, scratch);
  const std::vector<std::string_view> none;
  Env env;
  env.variables = &none;
  Status status;
  const std::string_view renamed =
      ReplaceLiteral(edit.pattern->prefix, *edit.target, env, key, scratch, &status);
  if (!status.ok()) return std::move(status).error();
  return renamed;
}

bool HasEmptySegment(std::string_view key) {
  return key.starts_with('.') || key.ends_with('.') || key.find("..") != std::string_view::npos;
}

}  // namespace rekey
