// `rekey run RULES IN -o OUT`: plans, places, executes, and says what happened.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <optional>

#include "cli/job.h"
#include "cli/json_text.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/rule_lines.h"
#include "cli/stamp.h"
#include "cli/summary.h"
#include "cli/verbs.h"
#include "engine/execute.h"
#include "engine/lints.h"
#include "grammar/printable.h"

namespace rekey::cli {
namespace {

constexpr size_t kRuleLines = 20;  // without --verbose

struct Unit {
  std::string_view name;
  double bytes;
};

constexpr Unit kUnits[] = {{"", 1},         {"B", 1},       {"KB", 1e3},     {"MB", 1e6},
                           {"GB", 1e9},     {"TB", 1e12},   {"KIB", 0x1p10}, {"MIB", 0x1p20},
                           {"GIB", 0x1p30}, {"TIB", 0x1p40}};

// "5GB", "1.5 GiB", "300000000".
Result<uint64_t> ParseSize(const std::string& text) {
  const Diagnostic bad =
      Error("bad-option", "--max-shard-size " + Printable(text) + " is no size")
          .Help("write a number of bytes, or one with KB, MB, GB, KiB, MiB or GiB, as `5GB`");
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || !std::isfinite(number) || number <= 0) return bad;
  std::string unit;
  for (const char* at = end; at != text.data() + text.size(); ++at) {
    if (*at != ' ') unit += static_cast<char>(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
  }
  for (const Unit& known : kUnits) {
    const double bytes = number * known.bytes;
    if (unit == known.name && bytes >= 1 && bytes < 0x1p63) return static_cast<uint64_t>(bytes);
  }
  return bad;
}

Result<PlaceOptions> PlaceOptionsOf(const Settings& settings, const Job& job) {
  PlaceOptions options;
  options.to = settings.to;
  options.copy_ties = settings.ties == "copy";
  if (settings.stamp) options.stamp = StampOf(job);
  if (!settings.max_shard_size.empty()) {
    Result<uint64_t> size = ParseSize(settings.max_shard_size);
    if (!size.ok()) return size.error();
    options.max_shard_size = *size;
  }
  return options;
}

void PrintRuleLines(const Settings& settings, const std::vector<RuleLine>& lines) {
  const size_t shown = settings.verbose ? lines.size() : std::min(lines.size(), kRuleLines);
  for (size_t i = 0; i < shown; ++i) std::cerr << lines[i].text << "\n";
  if (shown < lines.size()) {
    std::cerr << "… and " << Plural(lines.size() - shown, "line") << " more (--verbose)\n";
  }
}

std::string Seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, seconds < 10 ? "%.2f s" : "%.1f s", seconds);
  return text;
}

// "97.8 MB in 0.05 s (1.9 GB/s)"
std::string Speed(const Done& done) {
  std::string text = Size(done.bytes_written) + " in " + Seconds(done.seconds);
  if (done.seconds > 0) {
    const double rate = static_cast<double>(done.bytes_written) / done.seconds;
    text += " (" + Size(static_cast<uint64_t>(rate)) + "/s)";
  }
  return text;
}

void PrintJson(const Job& job, const std::vector<RuleLine>& lines, const Summary& summary,
               const std::optional<Placed>& placed, const std::optional<Done>& done) {
  JsonText json;
  json.StartObject();
  json.Key("files");
  json.StartArray();
  if (placed) {
    for (const PlacedFile& file : placed->files) {
      json.StartObject();
      json.Field("path", file.path);
      json.Field("bytes", file.layout.size);
      json.Field("tensors", uint64_t{file.outputs.size()});
      json.EndObject();
    }
  }
  json.EndArray();
  json.Key("index");
  placed && !placed->index_path.empty() ? json.Text(placed->index_path) : json.Null();
  WriteRules(lines, &json);
  WriteSummary(summary, &json);
  json.Key("written");
  json.Truth(done.has_value());
  json.Field("bytes", done ? done->bytes_written : job.plan->bytes);
  json.Key("seconds");
  done ? json.Real(done->seconds) : json.Null();
  json.Messages("warnings", job.diagnostics);
  json.EndObject();
  json.Print();
}

Diagnostic MissingOutput() {
  return Error("missing-argument", "`rekey run` needs to know where to write")
      .Help("name a file or a folder with -o OUT")
      .Help("or say --dry-run to see what would be written");
}

// Everything but the writing has gone well: writes, unless it is a dry run.
int Finish(const Settings& settings, Job* job) {
  const std::vector<RuleLine> lines = RuleLines(*job->plan, *job->program, job->file->source.get());
  const Summary summary = Summarize(*job->plan, *job->program);
  for (Diagnostic& note : WithoutAllowed(PassedNote(summary), settings.allow)) {
    job->diagnostics.push_back(std::move(note));
  }
  std::optional<Placed> placed;
  if (!settings.out.empty()) {
    Result<PlaceOptions> options = PlaceOptionsOf(settings, *job);
    if (!options.ok()) return Fail(settings, options.error());
    Result<Placed> where = Place(*job->plan, *job->program, settings.out, *options);
    if (!where.ok()) return Fail(settings, where.error());
    placed = std::move(*where);
  }
  const int status = job->Report();
  const bool speak = !settings.quiet && !settings.json;
  if (speak) PrintRuleLines(settings, lines);
  std::optional<Done> done;
  if (status == kYes && !settings.dry_run) {
    ProgressLine progress(settings);
    ExecuteOptions options{.threads = settings.threads, .force = settings.force};
    options.progress = progress.Callback();
    Result<Done> executed = Execute(*job->plan, *placed, options);
    progress.Clear();
    if (!executed.ok()) return Fail(settings, executed.error());
    done = *executed;
  }
  if (settings.json) PrintJson(*job, lines, summary, placed, done);
  if (speak) {
    std::cerr << SummaryText(summary) << "; "
              << (done ? Speed(*done) : Size(job->plan->bytes) + ", nothing written") << "\n";
  }
  return status;
}

}  // namespace

int RunRun(const Settings& settings) {
  if (settings.out.empty() && !settings.dry_run) return Fail(settings, MissingOutput());
  Job job(settings);
  if (!job.Plan(job.words[0])) return job.Report();
  return Finish(settings, &job);
}

}  // namespace rekey::cli
