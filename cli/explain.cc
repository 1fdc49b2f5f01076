// `rekey explain RULES IN KEY`: the story of one key.
#include "engine/explain.h"

#include <algorithm>
#include <iostream>

#include "cli/job.h"
#include "cli/json_text.h"
#include "cli/report.h"
#include "cli/rule_lines.h"
#include "cli/verbs.h"
#include "engine/lints.h"
#include "grammar/printable.h"

namespace rekey::cli {
namespace {

const char* KindName(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::kEdit:
      return "edit";
    case Event::Kind::kClaimed:
      return "claimed";
    case Event::Kind::kWouldClaim:
      return "would_claim";
    case Event::Kind::kGuardFalse:
      return "guard_false";
    case Event::Kind::kIncomplete:
      return "incomplete";
    case Event::Kind::kPassed:
      return "passed";
    case Event::Kind::kDropped:
      return "dropped";
    case Event::Kind::kRefused:
      return "refused";
    case Event::Kind::kAffix:
      return "affix";
    case Event::Kind::kOutput:
      return "output";
  }
  return "";
}

std::string Arrow(const Event& event) {
  return Printable(event.before) + " -> " + Printable(event.after);
}

// What happened, in words.
std::string Words(const Event& event) {
  switch (event.kind) {
    case Event::Kind::kEdit:
    case Event::Kind::kAffix:
      return Arrow(event);
    case Event::Kind::kClaimed:
      return "claims " + (event.after.empty() || event.after == event.before
                              ? Printable(event.before) + ", the name stays"
                              : Arrow(event));
    case Event::Kind::kWouldClaim:
      return "would claim it too, but comes later";
    case Event::Kind::kGuardFalse:
      return "fits, but its `if` does not hold";
    case Event::Kind::kIncomplete:
      return "fits, but the group is not complete";
    case Event::Kind::kPassed:
      return Printable(event.before) + " passes";
    case Event::Kind::kDropped:
      return "drops " + Printable(event.before);
    case Event::Kind::kRefused:
      return "refuses " + Printable(event.before);
    case Event::Kind::kOutput:
      return event.before.empty() ? "makes " + Printable(event.after) : Arrow(event);
  }
  return "";
}

std::string FirstLine(std::string_view text) {
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

void PrintEvents(const Job& job, const Story& story) {
  int pass = 0;
  Table table({true, false, false});
  const auto flush = [&] {
    std::cout << table.ToString();
    table = Table({true, false, false});
  };
  for (const Event& event : story.events) {
    if (event.pass != pass) {
      flush();
      pass = event.pass;
      const auto& passes = job.program->passes;
      const bool named = static_cast<size_t>(pass) < passes.size() &&
                         passes[static_cast<size_t>(pass)].name.has_value();
      std::cout << "then"
                << (named ? " \"" + Printable(*passes[static_cast<size_t>(pass)].name) + "\"" : "")
                << "\n";
    }
    const bool written = static_cast<bool>(event.where);
    table.Row({written ? LineOf(event.where, job.file->source.get()) : "",
               written ? Printable(FirstLine(event.where.Text())) : "(no `else` is written)",
               Words(event) + (event.note.empty() ? "" : "; " + Printable(event.note))});
  }
  flush();
}

void PrintEnd(const Job& job, const Story& story) {
  const Rewritten& rewritten = job.plan->rewritten;
  for (size_t i = 0; i < rewritten.outputs.size(); ++i) {
    const OutputKey& output = rewritten.outputs[i];
    const bool target =
        std::find(story.targets.begin(), story.targets.end(), output.key) != story.targets.end();
    if (output.key != story.key && !target) continue;
    std::cout << "=> " << Printable(output.key) << " "
              << ToString(rewritten.graph.type(output.tensor)) << ", ";
    if (job.plan->same_as[i] != i) {
      std::cout << "the same bytes as " << Printable(rewritten.outputs[job.plan->same_as[i]].key)
                << "\n";
    } else {
      std::cout << Name(job.plan->lowered[i].recipe) << "\n";
    }
    if (output.key == story.key && !story.is_source) {
      for (const std::string& source : story.sources)
        std::cout << "   <- " << Printable(source) << "\n";
    }
  }
  if (story.dropped) std::cout << "=> dropped\n";
  for (const NearMiss& miss : story.near_misses) {
    std::cout << "nearly: line " << LineOf(miss.where, job.file->source.get()) << "  "
              << Printable(FirstLine(miss.where.Text())) << "  " << Printable(miss.why) << "\n";
  }
}

void PrintText(const Job& job, const Story& story) {
  std::cout << Printable(story.key);
  for (const Entry& entry : job.catalog->entries) {
    if (!story.is_source || entry.key != story.key) continue;
    std::cout << " " << ToString(TensorType{entry.dtype, entry.shape});
    if (!entry.no_bytes) {
      const uint32_t file = job.catalog->storages[entry.storage].file;
      std::cout << " of " << Printable(job.catalog->files[file].name);
    }
  }
  if (!story.is_source) std::cout << ", an output";
  std::cout << "\n";
  PrintEvents(job, story);
  PrintEnd(job, story);
}

void PrintJson(const Job& job, const Story& story) {
  JsonText json;
  json.StartObject();
  json.Field("key", story.key);
  json.Key("is_source"), json.Truth(story.is_source);
  json.Key("is_output"), json.Truth(story.is_output);
  json.Key("events");
  json.StartArray();
  for (const Event& event : story.events) {
    json.StartObject();
    json.Field("kind", KindName(event.kind));
    json.Field("pass", uint64_t{static_cast<unsigned>(event.pass)});
    json.Key("rule");
    WritePlace(event.where, &json);
    json.Field("before", event.before);
    json.Field("after", event.after);
    json.Field("note", event.note);
    json.EndObject();
  }
  json.EndArray();
  json.Texts("sources", story.sources);
  json.Texts("targets", story.targets);
  json.Key("dropped"), json.Truth(story.dropped);
  json.Key("passed"), json.Truth(story.passed);
  json.Key("near_misses");
  json.StartArray();
  for (const NearMiss& miss : story.near_misses) {
    json.StartObject();
    json.Key("rule");
    WritePlace(miss.where, &json);
    json.Field("why", miss.why);
    json.EndObject();
  }
  json.EndArray();
  json.Messages("warnings", job.diagnostics);
  json.EndObject();
  json.Print();
}

}  // namespace

int RunExplain(const Settings& settings) {
  Job job(settings);
  if (!job.Open(job.words[0])) return job.Report();
  Result<Story> story = Explain(*job.program, *job.catalog, job.words[1]);
  if (!story.ok()) return Fail(settings, story.error());
  job.plan.emplace(MakePlan(*job.program, *job.catalog, {.allow = settings.allow}));
  if (settings.json) {
    PrintJson(job, *story);
  } else {
    PrintText(job, *story);
  }
  // A story can be told of a plan that cannot be run; its errors are told too.
  Diagnostics errors = WithoutAllowed(story->diagnostics, settings.allow);
  if (!settings.json && !settings.quiet) PrintAll(settings, errors);
  return kYes;
}

}  // namespace rekey::cli
