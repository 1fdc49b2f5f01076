// How fast keys go through rules: Rewrite against trying one RE2 after another.
//
//   rekey_bench_keys [KEYS [RULES]]      1,000,000 keys and 200 rules by default
//
// Both sides match, capture and print the new key; Rewrite also finds collisions and keeps its
// account. The two must agree on every key. Prints both processor times and their ratio;
// both run on one thread, in one process.
#include <re2/re2.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "engine/catalog.h"
#include "engine/compile.h"
#include "engine/rewrite.h"
#include "grammar/parser.h"

namespace rekey {
namespace {

// Rule `r` of four kinds, and key `n` that it fits. As in real rule files, keys begin alike and
// tell themselves apart behind the number of the layer.
std::string RuleText(int r) {
  const std::string name = "mod" + std::to_string(r);
  switch (r % 4) {
    case 0:
      return "map model.layers.{i:int}." + name + ".{x}.weight -> h.{i}." + name + ".{x}.w\n";
    case 1:
      return "map /model\\.layers\\.(\\d+)\\." + name + "\\.kernel/ -> h.\\1." + name + ".w\n";
    case 2:
      return "map {p:any}." + name + ".{w:weight|bias} -> {p}.out" + std::to_string(r) + ".{w}\n";
    default:
      return "map model.layers.{a:int}." + name + ".{b:int}.w -> h.{a}." + name + ".{b + 1}.w\n";
  }
}

std::string KeyText(int r, int n) {
  const std::string start = "model.layers." + std::to_string(n) + ".mod" + std::to_string(r) + ".";
  constexpr const char* kEnds[] = {"query.weight", "kernel", "weight", "7.w"};
  return start + kEnds[r % 4];
}

Catalog MakeCatalog(int keys, int rules) {
  Catalog catalog;
  catalog.storages.resize(1);
  catalog.entries.resize(static_cast<size_t>(keys));
  for (int k = 0; k < keys; ++k) {
    Entry& entry = catalog.entries[static_cast<size_t>(k)];
    entry.key = catalog.text->Add(KeyText(k % rules, k / rules));
    entry.shape = {1};
    entry.strides = {1};
  }
  return catalog;
}

// Processor time, so that a busy machine does not blur the ratio.
double Now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::vector<std::string> OneAfterAnother(const Program& program, const Catalog& catalog) {
  std::vector<std::string> targets(catalog.entries.size());
  std::vector<std::string_view> variables;
  Env env;
  env.variables = &variables;
  for (size_t k = 0; k < targets.size(); ++k) {
    const std::string_view key = catalog.entries[k].key;
    const re2::StringPiece text(key.data(), key.size());
    for (const Rule& rule : program.passes[0].rules) {
      const KeyPattern& pattern = rule.sources[0];
      if (!pattern.re->Match(text, 0, key.size(), re2::RE2::ANCHOR_BOTH, nullptr, 0)) continue;
      pattern.Match(key, &variables);
      if (!rule.targets[0].Print(env, &targets[k]).ok()) std::abort();
      break;
    }
  }
  return targets;
}

int Main(int keys, int rules) {
  std::string text;
  for (int r = 0; r < rules; ++r) text += RuleText(r);
  ParseResult parsed = Parse(std::make_shared<Source>("bench.rekey", text));
  Compiled compiled = Compile(std::make_shared<ast::File>(std::move(parsed.file)), {});
  if (!compiled.program) {
    for (const Diagnostic& error : compiled.diagnostics)
      std::fputs(Render(error, false).c_str(), stderr);
    return 2;
  }
  const Catalog catalog = MakeCatalog(keys, rules);

  double start = Now();
  const Rewritten rewritten = Rewrite(*compiled.program, catalog, {});
  const double ours = Now() - start;
  start = Now();
  const std::vector<std::string> expected = OneAfterAnother(*compiled.program, catalog);
  const double theirs = Now() - start;

  for (const Diagnostic& error : rewritten.diagnostics)
    std::fputs(Render(error, false).c_str(), stderr);
  size_t differ = rewritten.outputs.size() == expected.size() ? 0 : 1;
  for (size_t k = 0; differ == 0 && k < expected.size(); ++k)
    differ += rewritten.outputs[k].key != expected[k];
  std::printf("%d keys, %d rules: one RE2 after another %.3f s, rekey %.3f s, ratio %.1f\n", keys,
              rules, theirs, ours, theirs / ours);
  if (differ > 0) std::printf("the two do not agree\n");
  return differ > 0 ? 1 : 0;
}

}  // namespace
}  // namespace rekey

int main(int argc, char** argv) {
  const int keys = argc > 1 ? std::atoi(argv[1]) : 1'000'000;
  const int rules = argc > 2 ? std::atoi(argv[2]) : 200;
  if (keys < 1 || rules < 1) {
    std::fputs("usage: rekey_bench_keys [KEYS [RULES]]\n", stderr);
    return 2;
  }
  return rekey::Main(keys, rules);
}
