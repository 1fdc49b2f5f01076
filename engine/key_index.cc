#include "engine/key_index.h"

#include <bit>
#include <functional>

namespace rekey {

uint32_t KeyIndex::Hash(std::string_view key) {
  const size_t hash = std::hash<std::string_view>()(key);
  return static_cast<uint32_t>(hash ^ (hash >> 32));
}

KeyIndex::KeyIndex(size_t expected) {
  entries_.reserve(expected);
  Grow(std::bit_ceil(2 * expected + 16));
}

size_t KeyIndex::SlotOf(std::string_view key, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  while (slots_[at].entry != 0 &&
         (slots_[at].hash != hash || entries_[slots_[at].entry - 1].key != key))
    at = (at + 1) & mask;
  return at;
}

void KeyIndex::Grow(size_t slots) {
  std::vector<Slot> old(slots);
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.entry == 0) continue;
    size_t at = slot.hash & mask;
    while (slots_[at].entry != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

std::optional<uint32_t> KeyIndex::Add(std::string_view key, uint32_t number) {
  return Add(key, Hash(key), number);
}

std::optional<uint32_t> KeyIndex::Add(std::string_view key, uint32_t hash, uint32_t number) {
  size_t at = SlotOf(key, hash);
  if (slots_[at].entry != 0) return entries_[slots_[at].entry - 1].number;
  if (2 * (entries_.size() + 1) > slots_.size()) {
    Grow(2 * slots_.size());
    at = SlotOf(key, hash);
  }
  entries_.push_back({key, number});
  slots_[at] = {hash, static_cast<uint32_t>(entries_.size())};
  return std::nullopt;
}

std::optional<uint32_t> KeyIndex::Find(std::string_view key) const {
  const Slot& slot = slots_[SlotOf(key, Hash(key))];
  if (slot.entry == 0) return std::nullopt;
  return entries_[slot.entry - 1].number;
}

}  // namespace rekey
