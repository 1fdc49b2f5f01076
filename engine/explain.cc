#include "engine/explain.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "engine/near_miss.h"
#include "grammar/printable.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

std::string Quoted(std::string_view text) { return '`' + Printable(text) + '`'; }

// How far a pattern is from a key, and why it does not fit; nothing when it is not near.
std::optional<std::pair<size_t, std::string>> Distance(const Rule& rule, const KeyPattern& pattern,
                                                       std::string_view key) {
  if (const std::optional<NarrowHole> hole = FindNarrowHole(pattern, rule.variables, {key})) {
    return std::pair(size_t{0}, "the hole `{" + hole->name + "}` is one segment; `{" + hole->name +
                                    ":any}` would fit");
  }
  const PatternShape shape(pattern);
  const size_t limit = shape.limit();
  const size_t distance = shape.Distance(key, limit);
  // A rule that fits and did not claim has a guard that does not hold: the events say so.
  if (distance == 0 || distance > limit) return std::nullopt;
  return std::pair(distance, "it differs in " + std::to_string(distance) +
                                 (distance == 1 ? " character" : " characters"));
}

// --- The story -----------------------------------------------------------------------------------

// Of very many keys one of each family is compared.
std::vector<std::string> NearestKeys(const std::vector<std::string_view>& keys,
                                     const std::string& key) {
  constexpr size_t kMostCompared = 100'000;
  if (keys.size() > kMostCompared) return KeyFamilies(keys).Nearest(key);
  const std::vector<std::string_view> near = Nearest(key, keys);
  return {near.begin(), near.end()};
}

Diagnostic UnknownKey(const Rewritten& rewritten, const std::string& key) {
  Diagnostic error = Error(
      "unknown-key", "no key " + Quoted(key) + ", neither in the checkpoint nor in the output");
  std::vector<std::string_view> sources, outputs;
  for (const Entry& entry : rewritten.graph.catalog().entries) sources.push_back(entry.key);
  for (const OutputKey& output : rewritten.outputs) outputs.push_back(output.key);
  const std::vector<std::string> near = NearestKeys(sources, key);
  for (const std::string& known : near) error.Note("the checkpoint has " + Quoted(known));
  for (const std::string& known : NearestKeys(outputs, key)) {
    if (std::find(near.begin(), near.end(), known) != near.end()) continue;
    error.Note("the output has " + Quoted(known));
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

// Rewrite knows of rules that come too late before it knows who claims; readers want the claim
// first.
void PutClaimsFirst(std::vector<Event>* events) {
  std::vector<Event> ordered, late;
  for (Event& event : *events) {
    if (event.kind == Event::Kind::kWouldClaim) {
      late.push_back(std::move(event));
      continue;
    }
    const bool decides = event.kind == Event::Kind::kClaimed || event.kind == Event::Kind::kDropped;
    const auto is_its = [pass = event.pass, key = event.before](const Event& other) {
      return other.pass == pass && other.before == key;
    };
    ordered.push_back(std::move(event));
    if (!decides) continue;
    std::copy_if(late.begin(), late.end(), std::back_inserter(ordered), is_its);
    std::erase_if(late, is_its);
  }
  std::move(late.begin(), late.end(), std::back_inserter(ordered));
  *events = std::move(ordered);
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
      std::optional<std::pair<size_t, std::string>> near = Distance(rules[r], source, key);
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
  PutClaimsFirst(&story.events);
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
