// `rekey plan RULES IN`: every output of a run, and where its bytes come from.
#include <algorithm>
#include <iostream>
#include <unordered_set>

#include "cli/job.h"
#include "cli/json_text.h"
#include "cli/report.h"
#include "cli/rule_lines.h"
#include "cli/verbs.h"
#include "grammar/printable.h"

namespace rekey::cli {
namespace {

std::string FileOf(const Catalog& catalog, const Entry& entry) {
  return entry.no_bytes ? "" : catalog.files[catalog.storages[entry.storage].file].name;
}

std::string SourcesText(const Catalog& catalog, const std::vector<uint32_t>& sources) {
  constexpr size_t kShown = 8;
  if (sources.empty()) return "a constant";
  std::string text = "<- ";
  for (size_t i = 0; i < sources.size() && i < kShown; ++i) {
    text += (i == 0 ? "" : ", ") + Printable(catalog.entries[sources[i]].key);
  }
  if (sources.size() > kShown) text += " and " + Count(sources.size() - kShown) + " more";
  return text;
}

// Bytes of the tensors that flow into outputs, each once.
uint64_t BytesToRead(const Plan& plan) {
  const Rewritten& rewritten = plan.rewritten;
  const Catalog& catalog = rewritten.graph.catalog();
  const std::vector<uint32_t> alias = Aliases(catalog);
  std::unordered_set<uint32_t> seen;
  uint64_t bytes = 0;
  for (size_t i = 0; i < rewritten.outputs.size(); ++i) {
    if (plan.same_as[i] != i) continue;
    for (uint32_t source : rewritten.graph.SourcesOf(rewritten.outputs[i].tensor)) {
      if (seen.insert(alias[source]).second) bytes += DataBytes(catalog.entries[source]);
    }
  }
  return bytes;
}

void PrintText(const Settings& settings, const Job& job) {
  const Plan& plan = *job.plan;
  const Rewritten& rewritten = plan.rewritten;
  Table outputs({false, false, false, false, false});
  size_t recipes[3] = {0, 0, 0};
  size_t tied = 0;
  for (size_t i = 0; i < rewritten.outputs.size(); ++i) {
    const OutputKey& output = rewritten.outputs[i];
    const TensorType type = rewritten.graph.type(output.tensor);
    const bool shared = plan.same_as[i] != i;
    const Recipe recipe = plan.lowered[i].recipe;
    shared ? ++tied : ++recipes[static_cast<size_t>(recipe)];
    outputs.Row({Printable(output.key), std::string(Name(type.dtype)), ToString(type.shape),
                 shared ? "tie" : Name(recipe),
                 shared ? "= " + Printable(rewritten.outputs[plan.same_as[i]].key)
                        : SourcesText(*job.catalog, rewritten.graph.SourcesOf(output.tensor))});
  }
  std::cout << outputs.ToString();
  Table rest({false, false, false});
  for (const DroppedKey& dropped : rewritten.dropped) {
    const Span where = SpanOf(*job.program, dropped.by);
    rest.Row({"drop", Printable(dropped.key),
              where ? "line " + LineOf(where, job.file->source.get()) : ""});
  }
  std::cout << rest.ToString();
  if (settings.quiet) return;
  std::cout << Plural(rewritten.outputs.size(), "tensor") << ": " << recipes[0] << " copied, "
            << recipes[1] << " moved, " << recipes[2] << " computed, " << tied << " tied; "
            << rewritten.dropped.size() << " dropped, " << rewritten.passed.size()
            << " claimed by no rule; " << Size(BytesToRead(plan)) << " to read, "
            << Size(plan.bytes) << " to write\n";
}

void WriteOutput(const Job& job, size_t i, JsonText* json) {
  const Plan& plan = *job.plan;
  const OutputKey& output = plan.rewritten.outputs[i];
  json->StartObject();
  json->Field("key", output.key);
  json->Type(plan.rewritten.graph.type(output.tensor));
  json->Field("bytes", plan.lowered[i].bytes);
  json->Field("recipe", Name(plan.lowered[i].recipe));
  if (plan.same_as[i] != i) {
    json->Field("same_as", plan.rewritten.outputs[plan.same_as[i]].key);
  }
  json->Key("rule");
  WritePlace(output.claimed ? SpanOf(*job.program, output.by) : Span(), json);
  json->Key("sources");
  json->StartArray();
  for (uint32_t source : plan.rewritten.graph.SourcesOf(output.tensor)) {
    const Entry& entry = job.catalog->entries[source];
    json->StartObject();
    json->Field("key", entry.key);
    json->Field("file", FileOf(*job.catalog, entry));
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

void PrintJson(const Job& job) {
  const Plan& plan = *job.plan;
  JsonText json;
  json.StartObject();
  json.Key("outputs");
  json.StartArray();
  for (size_t i = 0; i < plan.rewritten.outputs.size(); ++i) WriteOutput(job, i, &json);
  json.EndArray();
  json.Key("dropped");
  json.StartArray();
  for (const DroppedKey& dropped : plan.rewritten.dropped) {
    json.StartObject();
    json.Field("key", dropped.key);
    json.Key("rule");
    WritePlace(SpanOf(*job.program, dropped.by), &json);
    json.EndObject();
  }
  json.EndArray();
  json.Key("passed");
  json.StartArray();
  for (std::string_view key : plan.rewritten.passed) json.Text(key);
  json.EndArray();
  json.Field("bytes_to_read", BytesToRead(plan));
  json.Field("bytes_to_write", plan.bytes);
  json.Messages("warnings", job.diagnostics);
  json.EndObject();
  json.Print();
}

}  // namespace

int RunPlan(const Settings& settings) {
  Job job(settings);
  if (!job.Plan(job.words[0])) return job.Report();
  const int status = job.Report();
  settings.json ? PrintJson(job) : PrintText(settings, job);
  return status;
}

}  // namespace rekey::cli
