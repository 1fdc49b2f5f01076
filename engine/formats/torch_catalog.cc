#include "engine/formats/torch_catalog.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/formats/torch_envelope.h"
#include "engine/formats/torch_state.h"

namespace rekey {
namespace {

constexpr size_t kMaxListed = 5;

std::string Quote(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string List(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kMaxListed; ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMaxListed) {
    text += " and " + std::to_string(names.size() - kMaxListed) + " more";
  }
  return text;
}

// "1 tensor is", "3 tensors are".
std::string Count(size_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

void Warn(const TorchState& state, Catalog& catalog) {
  const std::string file = Quote(catalog.files[0].path);
  if (!state.other_tensors.empty()) {
    catalog.warnings.push_back(
        Warning("tensors-left-out", Count(state.other_tensors.size(), "tensor", "tensors") +
                                        " of " + file + " of a kind that is not read " +
                                        (state.other_tensors.size() == 1 ? "is" : "are") +
                                        " left out: " + List(state.other_tensors))
            .Help("make them dense and whole in torch, and save again, if they are needed"));
  }
  if (!state.hidden.empty()) {
    catalog.warnings.push_back(
        Warning("entries-left-out",
                Count(state.hidden.size(), "entry", "entries") + " of the state_dict in " + file +
                    " may hold further tensors and " + (state.hidden.size() == 1 ? "is" : "are") +
                    " left out: " + List(state.hidden))
            .Help("`select all` takes every tensor of the file"));
  }
  if (!state.not_tensors.empty()) {
    catalog.warnings.push_back(Warning(
        "not-tensors", Count(state.not_tensors.size(), "entry", "entries") +
                           " of the state_dict in " + file +
                           (state.not_tensors.size() == 1 ? " is no tensor and is left out: "
                                                          : " are no tensors and are left out: ") +
                           List(state.not_tensors)));
  }
}

class Builder {
 public:
  Builder(Catalog& catalog, const TorchFile& torch) : catalog_(catalog), torch_(torch) {}

  Status Add(const TorchState::Item& item) {
    const TorchTensor& tensor = torch_.tensors.tensors[item.tensor];
    if (!tensor.fault.empty()) return Bad(item.key, tensor.fault);
    Entry entry = {.key = item.key,
                   .dtype = tensor.dtype,
                   .conj = tensor.conj,
                   .neg = tensor.neg,
                   .no_bytes = tensor.no_bytes,
                   .start = tensor.start,
                   .shape = tensor.shape,
                   .strides = tensor.strides};
    if (!tensor.no_bytes) {
      const TorchStorage& storage = torch_.tensors.storages[tensor.storage];
      Result<uint32_t> number = NumberOf(storage, item.key);
      if (!number.ok()) return std::move(number).error();
      entry.storage = *number;
    }
    catalog_.entries.push_back(std::move(entry));
    return {};
  }

 private:
  Diagnostic Bad(std::string_view key, const std::string& what) const {
    return Error("bad-tensor",
                 "tensor " + Quote(key) + " in " + Quote(catalog_.files[0].path) + " " + what)
        .Help("the file is damaged or was made to mislead: download or copy it again");
  }

  Result<uint32_t> NumberOf(const TorchStorage& storage, std::string_view key) {
    const auto [at, is_new] = located_.emplace(storage.key, Located{.dtype = storage.dtype});
    if (is_new) {
      Result<Storage> located = torch_.locate(storage.key);
      if (!located.ok()) return Bad(key, located.error().message);
      at->second.number = static_cast<uint32_t>(catalog_.storages.size());
      catalog_.storages.push_back(*located);
    }
    if (at->second.dtype != storage.dtype) {
      return Bad(key,
                 "lies in storage `" + storage.key + "` of " + std::string(Name(storage.dtype)) +
                     ", which other tensors name as one of " + std::string(Name(at->second.dtype)) +
                     "; torch would take the first name for all of them");
    }
    const uint64_t has = catalog_.storages[at->second.number].bytes;
    if (storage.bytes > has) {
      return Bad(key, "lies in storage `" + storage.key + "`, which should have " +
                          std::to_string(storage.bytes) + " bytes, but its record has " +
                          std::to_string(has));
    }
    return at->second.number;
  }

  struct Located {
    DType dtype = DType::kU8;
    uint32_t number = 0;  // in the catalog
  };

  Catalog& catalog_;
  const TorchFile& torch_;
  std::unordered_map<std::string, Located> located_;  // storages by key
};

// A TorchScript archive is one module and nothing around it.
Result<Envelope> FindObject(const Catalog& catalog, const TorchFile& torch,
                            const ReadOptions& options) {
  const std::string& file = catalog.files[0].path;
  if (torch.script == nullptr || options.select_all) {
    return FindEnvelope(*catalog.objects, torch.root, torch.tensors, options, file);
  }
  if (!options.select) return Envelope{.object = torch.root};
  return Error("no-envelope", "`select " + *options.select + "`: " + Quote(file) +
                                  " is a TorchScript archive, which holds one module and nothing "
                                  "around it to select from")
      .Help("leave out `select`; to take the keys below a prefix write `keep` or `strip`");
}

}  // namespace

Result<Catalog> MakeTorchCatalog(Catalog catalog, TorchFile torch, const ReadOptions& options) {
  const ObjectGraph& graph = *catalog.objects;
  const std::string& file = catalog.files[0].path;
  Result<Envelope> envelope = FindObject(catalog, torch, options);
  if (!envelope.ok()) return std::move(envelope).error();
  const WalkOptions walk = {
      .nested = envelope->nested, .whole_tree = envelope->whole_tree, .script = torch.script};
  Result<TorchState> state =
      WalkTorchState(graph, envelope->object, torch.tensors, walk, file, *catalog.text);
  if (!state.ok()) return std::move(state).error();
  Builder builder(catalog, torch);
  catalog.entries.reserve(state->items.size());
  for (const TorchState::Item& item : state->items) {
    Status added = builder.Add(item);
    if (!added.ok()) return std::move(added).error();
  }
  if (const auto twice = FindDuplicateKey(catalog.entries)) {
    return Error("duplicate-key", "the key " + Quote(catalog.entries[twice->second].key) +
                                      " stands twice in " + Quote(file))
        .Note("most loaders would silently take the last of the two");
  }
  Warn(*state, catalog);
  catalog.envelope = std::move(envelope->path);
  catalog.module_metadata = std::move(state->module_metadata);
  catalog.meta.push_back({.object = torch.root});
  catalog.callables = std::move(torch.tensors.callables);
  return catalog;
}

}  // namespace rekey
