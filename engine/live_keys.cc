#include "engine/live_keys.h"

#include <algorithm>

namespace rekey {

std::string Quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string CountKeys(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " key" : " keys");
}

Journey::Journey(const Program& the_program, const Catalog& catalog,
                 const RewriteOptions& the_options, const std::vector<bool>* watched)
    : program(the_program),
      options(the_options),
      out(catalog),
      touched_(catalog.entries.size()),
      watched_(watched) {}

void Journey::Touch(TensorId tensor) {
  const auto touch = [&](uint32_t entry) {
    if (!touched_[entry]) ++out.touched;
    touched_[entry] = true;
  };
  if (out.graph.IsSource(tensor)) return touch(tensor);
  for (const uint32_t entry : out.graph.SourcesOf(tensor)) touch(entry);
}

std::string Journey::SourceName(TensorId tensor) const {
  if (out.graph.IsSource(tensor)) return Quoted(out.graph.source(tensor).key);
  const std::vector<uint32_t> sources = out.graph.SourcesOf(tensor);
  if (sources.empty()) return "a filled tensor";
  std::string name = Quoted(out.graph.source(sources[0]).key);
  if (sources.size() > 1) name += " and " + std::to_string(sources.size() - 1) + " more";
  return name;
}

std::string_view Journey::SourceKey(const LiveKey& key) const {
  return out.graph.IsSource(key.tensor) ? out.graph.source(key.tensor).key : key.key;
}

bool Journey::IsWatched(TensorId tensor) const {
  if (watched_ == nullptr) return false;
  if (out.graph.IsSource(tensor)) return (*watched_)[tensor];
  const std::vector<uint32_t> sources = out.graph.SourcesOf(tensor);
  return std::any_of(sources.begin(), sources.end(),
                     [&](uint32_t entry) { return (*watched_)[entry]; });
}

void Journey::Record(Event event) {
  if (options.events) options.events->push_back(std::move(event));
}

void Journey::AddError(Diagnostic error) {
  const Place place{error.name, {error.primary.span.source, error.primary.span.begin}};
  const auto [known, fresh] = errors_.try_emplace(place, out.diagnostics.size(), 0);
  if (fresh) {
    out.diagnostics.push_back(std::move(error));
  } else {
    ++known->second.second;
  }
}

void Journey::FinishErrors() {
  for (const auto& [place, found] : errors_)
    if (found.second > 0)
      out.diagnostics[found.first].Note("the same at " + CountKeys(found.second) + " more");
  errors_.clear();
}

}  // namespace rekey
