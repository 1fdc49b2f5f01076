#include "engine/explain.h"

#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "grammar/printable.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

std::string Quoted(std::string_view text) { return '`' + Printable(text) + '`'; }

// --- Near misses ---------------------------------------------------------------------------------

constexpr char kHole = '\x01';

// The pattern's text with each hole as one kHole: `layers\.(\d+)\.attn` is "layers.\1.attn".
// Nothing for patterns that were written as a regex: their text is not literal.
std::optional<std::string> Skeleton(const KeyPattern& pattern) {
  if (pattern.is_regex) return std::nullopt;
  if (pattern.is_literal) return pattern.prefix;
  std::string skeleton;
  int depth = 0;
  for (size_t i = 0; i < pattern.regex.size(); ++i) {
    const char c = pattern.regex[i];
    if (c == '(' && depth++ == 0) skeleton += kHole;
    if (c == ')') --depth;
    if (depth > 0 || c == ')') {
      if (c == '\\') ++i;
      continue;
    }
    if (c == '\\' && i + 1 < pattern.regex.size()) ++i;
    skeleton += pattern.regex[i];
  }
  return skeleton;
}

std::vector<std::string_view> Segments(std::string_view key) {
  std::vector<std::string_view> segments;
  for (size_t begin = 0; begin <= key.size();) {
    const size_t end = std::min(key.find_first_of("./", begin), key.size());
    segments.push_back(key.substr(begin, end - begin));
    begin = end + 1;
  }
  return segments;
}

// True if replacing `from` by `to` everywhere in the pattern's regex makes it fit.
bool FitsWith(const KeyPattern& pattern, std::string_view key, const std::string& from,
              const std::string& to) {
  std::string regex = pattern.regex;
  bool changed = false;
  for (size_t at = regex.find(from); at != std::string::npos; at = regex.find(from, at)) {
    regex.replace(at, from.size(), to);
    at += to.size();
    changed = true;
  }
  if (!changed) return false;
  const re2::RE2 re(regex, re2::RE2::Quiet);
  return re.ok() && re2::RE2::FullMatch(re2::StringPiece(key.data(), key.size()), re);
}

// How far a pattern is from a key, and why it does not fit; nothing when it is not near.
std::optional<std::pair<size_t, std::string>> Distance(const KeyPattern& pattern,
                                                       std::string_view key) {
  if (!pattern.is_regex && FitsWith(pattern, key, "([^./]+)", "(.+)")) {
    return std::pair(size_t{0}, "a hole `{x}` is one segment; `{x:any}` would fit");
  }
  if (!pattern.is_regex && FitsWith(pattern, key, "(\\d+)", "([^./]+)")) {
    return std::pair(size_t{0}, "a hole `{x:int}` takes digits only");
  }
  const std::optional<std::string> skeleton = Skeleton(pattern);
  if (!skeleton) return std::nullopt;
  const std::vector<std::string_view> wanted = Segments(*skeleton);
  const std::vector<std::string_view> real = Segments(key);
  if (wanted.size() != real.size()) return std::nullopt;
  std::optional<std::pair<size_t, std::string>> nearest;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == real[i] || wanted[i].find(kHole) != std::string_view::npos) continue;
    if (nearest) return std::nullopt;  // two segments differ
    const size_t limit = std::max(wanted[i].size(), real[i].size()) / 3;
    const size_t distance = EditDistance(wanted[i], real[i], limit);
    if (distance > limit) return std::nullopt;
    nearest = {distance,
               "the rule has " + Quoted(wanted[i]) + " where the key has " + Quoted(real[i])};
  }
  return nearest;
}

// --- The story -----------------------------------------------------------------------------------

Diagnostic UnknownKey(const Rewritten& rewritten, const std::string& key) {
  Diagnostic error = Error(
      "unknown-key", "no key " + Quoted(key) + ", neither in the checkpoint nor in the output");
  std::vector<std::string_view> keys;
  for (const Entry& entry : rewritten.graph.catalog().entries) keys.push_back(entry.key);
  const size_t sources = keys.size();
  for (const OutputKey& output : rewritten.outputs) keys.push_back(output.key);
  std::vector<std::string_view> shown;
  for (std::string_view near : Nearest(key, keys)) {
    if (std::find(shown.begin(), shown.end(), near) != shown.end()) continue;
    shown.push_back(near);
    const bool is_source = std::find(keys.begin(), keys.begin() + static_cast<long>(sources),
                                     near) != keys.begin() + static_cast<long>(sources);
    error.Note((is_source ? "the checkpoint has " : "the output has ") + Quoted(near));
  }
  return error.Help("`rekey keys IN` lists the keys of a checkpoint");
}

// The key as it stands in a pass, after its edits.
std::string KeyInPass(const Story& story, int pass) {
  std::string key = story.key;
  for (const Event& event : story.events) {
    if (event.pass > pass) break;
    if (event.kind == Event::Kind::kEdit ||
        (event.kind == Event::Kind::kAffix && event.pass < pass)) {
      if (event.before == key) key = event.after;
    }
  }
  return key;
}

void AddNearMisses(const Program& program, Story* story) {
  for (size_t pass = 0; pass < program.passes.size(); ++pass) {
    const int number = static_cast<int>(pass);
    for (NearMiss& miss : NearMisses(program, number, KeyInPass(*story, number))) {
      story->near_misses.push_back(std::move(miss));
    }
  }
}

void TellSource(const Rewritten& rewritten, uint32_t entry, Story* story) {
  story->is_source = true;
  for (const OutputKey& output : rewritten.outputs) {
    const std::vector<uint32_t> sources = rewritten.graph.SourcesOf(output.tensor);
    if (std::find(sources.begin(), sources.end(), entry) != sources.end()) {
      story->targets.emplace_back(output.key);
    }
  }
  for (const DroppedKey& dropped : rewritten.dropped) {
    story->dropped = story->dropped || dropped.key == story->key;
  }
  story->passed = std::find(rewritten.passed.begin(), rewritten.passed.end(), story->key) !=
                  rewritten.passed.end();
}

}  // namespace

std::vector<NearMiss> NearMisses(const Program& program, int pass, std::string_view key,
                                 size_t count) {
  std::vector<std::pair<size_t, NearMiss>> found;
  const std::vector<Rule>& rules = program.passes[static_cast<size_t>(pass)].rules;
  for (size_t r = 0; r < rules.size(); ++r) {
    for (const KeyPattern& source : rules[r].sources) {
      std::optional<std::pair<size_t, std::string>> near = Distance(source, key);
      if (!near) continue;
      found.emplace_back(
          near->first, NearMiss{{pass, static_cast<int>(r)}, source.span, std::move(near->second)});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<NearMiss> nearest;
  for (size_t i = 0; i < found.size() && i < count; ++i) {
    nearest.push_back(std::move(found[i].second));
  }
  return nearest;
}

Result<Story> Explain(const Program& program, const Catalog& catalog, const std::string& key) {
  Story story;
  story.key = key;
  RewriteOptions options;
  options.watch = key;
  options.events = &story.events;
  Rewritten rewritten = Rewrite(program, catalog, options);
  for (uint32_t i = 0; i < catalog.entries.size(); ++i) {
    if (catalog.entries[i].key == key) TellSource(rewritten, i, &story);
  }
  for (const OutputKey& output : rewritten.outputs) {
    if (output.key != key) continue;
    story.is_output = true;
    for (uint32_t source : rewritten.graph.SourcesOf(output.tensor)) {
      story.sources.emplace_back(catalog.entries[source].key);
    }
  }
  if (!story.is_source && !story.is_output) return UnknownKey(rewritten, key);
  if (story.passed) AddNearMisses(program, &story);
  for (Diagnostic& diagnostic : rewritten.diagnostics) {
    if (diagnostic.severity == Severity::kError) story.diagnostics.push_back(std::move(diagnostic));
  }
  return story;
}

}  // namespace rekey
