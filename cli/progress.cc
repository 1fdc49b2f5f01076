#include "cli/progress.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "cli/report.h"
#include "grammar/printable.h"

namespace rekey::cli {
namespace {

constexpr std::chrono::milliseconds kTerminalPause{200};
constexpr std::chrono::seconds kJsonPause{1};

size_t Columns() {
  winsize window{};
  return ioctl(2, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col : 80;
}

// At most `columns` columns of the text's beginning.
std::string Fit(std::string_view text, size_t columns) {
  std::string shown;
  size_t width = 0;
  while (!text.empty()) {
    const Glyph glyph = FirstGlyph(text);
    width += glyph.width;
    if (width > columns) break;
    shown += glyph.shown;
    text.remove_prefix(glyph.bytes);
  }
  return shown;
}

std::string Minutes(double seconds) {
  const auto whole = static_cast<uint64_t>(seconds + 0.5);
  char text[32];
  std::snprintf(text, sizeof text, "%llu:%02llu", static_cast<unsigned long long>(whole / 60),
                static_cast<unsigned long long>(whole % 60));
  return text;
}

}  // namespace

ProgressLine::ProgressLine(const Settings& settings) : start_(Clock::now()), last_(start_) {
  if (settings.progress == "json") {
    mode_ = Mode::kJson;
  } else if (settings.progress == "auto" && !settings.quiet && isatty(2) == 1) {
    mode_ = Mode::kTerminal;
  }
}

std::function<void(const Progress&)> ProgressLine::Callback() {
  if (mode_ == Mode::kNone) return {};
  return [this](const Progress& progress) { Show(progress); };
}

void ProgressLine::Show(const Progress& progress) {
  const Clock::time_point now = Clock::now();
  const bool over = progress.done == progress.total;
  if (mode_ == Mode::kTerminal ? now - last_ < kTerminalPause : now - last_ < kJsonPause && !over) {
    return;
  }
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  mode_ == Mode::kTerminal ? ShowOnTerminal(progress, seconds) : ShowAsJson(progress, seconds);
}

void ProgressLine::ShowOnTerminal(const Progress& progress, double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(progress.done) / seconds : 0;
  std::string line = Size(progress.done) + " of " + Size(progress.total) + ", " +
                     Size(static_cast<uint64_t>(rate)) + "/s";
  if (rate > 0) {
    line += ", " + Minutes(static_cast<double>(progress.total - progress.done) / rate) + " left";
  }
  line += "  " + progress.key;
  std::cerr << "\r\x1b[K" << Fit(line, Columns() - 1) << std::flush;
  shown_ = true;
}

void ProgressLine::ShowAsJson(const Progress& progress, double seconds) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  writer.StartObject();
  writer.Key("done");
  writer.Uint64(progress.done);
  writer.Key("total");
  writer.Uint64(progress.total);
  writer.Key("seconds");
  writer.Double(seconds);
  writer.Key("key");
  writer.String(progress.key.data(), static_cast<rapidjson::SizeType>(progress.key.size()));
  writer.EndObject();
  std::cerr << buffer.GetString() << std::endl;
}

void ProgressLine::Clear() {
  if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace rekey::cli
