#include "cli/rule_lines.h"

#include <algorithm>

#include "cli/report.h"
#include "grammar/printable.h"

namespace rekey::cli {
namespace {

// The first word of a statement: `merge`, `map?`.
std::string VerbOf(Span span) {
  const std::string_view text = span.Text();
  return std::string(text.substr(0, text.find_first_of(" \t\r\n")));
}

std::string FirstLineOf(Span span) {
  const std::string_view text = span.Text();
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

std::string Typed(std::string_view key, const TensorType& type) {
  return Printable(key) + " " + ToString(type);
}

// "2 x bf16[24, 12]" when all are alike, else "bf16[24, 12] + f32[2, 1]".
std::string Joined(const std::vector<TensorType>& types) {
  constexpr size_t kShown = 4;
  const bool alike = std::all_of(types.begin(), types.end(),
                                 [&](const TensorType& type) { return type == types.front(); });
  if (alike) return std::to_string(types.size()) + " x " + ToString(types.front());
  std::string text;
  for (size_t i = 0; i < types.size() && i < kShown; ++i) {
    text += (i == 0 ? "" : " + ") + ToString(types[i]);
  }
  if (types.size() > kShown) text += " + " + std::to_string(types.size() - kShown) + " more";
  return text;
}

// "module.fc.weight f32[10, 64] -> fc.weight"; the target's type only where it is another.
std::string ExampleOf(const RuleUse& use, ast::Verb verb) {
  std::string text;
  const bool many = use.example_source_types.size() > 1;
  if (many) {
    text = Joined(use.example_source_types);
  } else if (!use.example_sources.empty() && !use.example_source_types.empty()) {
    text = Typed(use.example_sources[0], use.example_source_types[0]);
  }
  if (verb == ast::Verb::kDrop || verb == ast::Verb::kKeep) return text;
  text += " -> ";
  for (size_t i = 0; i < use.example_targets.size(); ++i) {
    if (i > 0) text += ", ";
    const TensorType& type = use.example_target_types[i];
    const bool same =
        !many && !use.example_source_types.empty() && type == use.example_source_types[0];
    text += same ? Printable(use.example_targets[i]) : Typed(use.example_targets[i], type);
  }
  return text;
}

// How often the rule fired: once a group of a merge, once a key otherwise.
uint64_t Times(const RuleUse& use, ast::Verb verb) {
  return verb == ast::Verb::kMerge ? use.made : use.claimed;
}

std::string TimesText(uint64_t times) { return times == 1 ? "once" : Count(times) + " times"; }

RuleLine LineOfRule(const Rule& rule, const RuleUse& use, const Source* main) {
  RuleLine line{.where = rule.span, .keys = use.claimed, .made = use.made, .use = &use};
  line.text = VerbOf(rule.span) + " " + LineOf(rule.span, main) + ": ";
  if (use.claimed == 0) {
    line.text += "no key";
  } else {
    const std::string example = ExampleOf(use, rule.verb);
    line.text += example + (example.empty() ? "" : ", ") + TimesText(Times(use, rule.verb));
  }
  return line;
}

uint64_t DroppedBy(const Rewritten& rewritten, const RuleRef& rule) {
  return static_cast<uint64_t>(
      std::count_if(rewritten.dropped.begin(), rewritten.dropped.end(),
                    [&](const DroppedKey& dropped) { return dropped.by == rule; }));
}

void WriteTensors(std::string_view name, const std::vector<std::string_view>& keys,
                  const std::vector<TensorType>& types, JsonText* json) {
  json->Key(name);
  json->StartArray();
  for (size_t i = 0; i < keys.size() && i < types.size(); ++i) {
    json->StartObject();
    json->Field("key", keys[i]);
    json->Type(types[i]);
    json->EndObject();
  }
  json->EndArray();
}

}  // namespace

std::string LineOf(Span span, const Source* main) {
  const std::string line = std::to_string(span.source->Locate(span.begin).line);
  return span.source == main ? line : Printable(span.source->name()) + ":" + line;
}

Span SpanOf(const Program& program, const RuleRef& rule) {
  const Pass& pass = program.passes[static_cast<size_t>(rule.pass)];
  return rule.rule < 0 ? pass.else_span : pass.rules[static_cast<size_t>(rule.rule)].span;
}

std::vector<RuleLine> RuleLines(const Plan& plan, const Program& program, const Source* main) {
  std::vector<RuleLine> lines;
  const Rewritten& rewritten = plan.rewritten;
  for (size_t p = 0; p < program.passes.size(); ++p) {
    const Pass& pass = program.passes[p];
    for (size_t e = 0; e < pass.edits.size() && p < rewritten.edits.size(); ++e) {
      const Span span = pass.edits[e].span;
      const uint64_t touched = rewritten.edits[p][e].touched;
      lines.push_back({.where = span,
                       .text = VerbOf(span) + " " + LineOf(span, main) + ": " +
                               (touched == 0 ? "no key" : Plural(touched, "key")),
                       .keys = touched});
    }
    for (size_t r = 0; r < pass.rules.size() && p < rewritten.rules.size(); ++r) {
      lines.push_back(LineOfRule(pass.rules[r], rewritten.rules[p][r], main));
    }
    const uint64_t dropped = DroppedBy(rewritten, {static_cast<int>(p), -1});
    if (dropped > 0 && pass.else_span) {
      lines.push_back(
          {.where = pass.else_span,
           .text = "else " + LineOf(pass.else_span, main) + ": dropped " + Plural(dropped, "key"),
           .keys = dropped});
    }
  }
  return lines;
}

void WritePlace(Span span, JsonText* json) {
  if (!span) return json->Null();
  json->StartObject();
  json->Field("file", span.source->name());
  json->Field("line", uint64_t{span.source->Locate(span.begin).line});
  json->Field("text", FirstLineOf(span));
  json->EndObject();
}

void WriteRules(const std::vector<RuleLine>& lines, JsonText* json) {
  json->Key("rules");
  json->StartArray();
  for (const RuleLine& line : lines) {
    json->StartObject();
    json->Field("file", line.where.source->name());
    json->Field("line", uint64_t{line.where.source->Locate(line.where.begin).line});
    json->Field("text", FirstLineOf(line.where));
    json->Field("keys", line.keys);
    json->Field("made", line.made);
    if (line.use != nullptr && !line.use->example_sources.empty()) {
      json->Key("example");
      json->StartObject();
      WriteTensors("sources", line.use->example_sources, line.use->example_source_types, json);
      WriteTensors("targets", line.use->example_targets, line.use->example_target_types, json);
      json->EndObject();
    }
    json->EndObject();
  }
  json->EndArray();
}

}  // namespace rekey::cli
