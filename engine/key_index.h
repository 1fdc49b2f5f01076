// Finds keys among many: a flat hash table from key to a number.
//
// A million keys go through several of these (collisions, has(...), ties), so it is open addressing
// over two arrays instead of a node a key. Keys are not copied: their text must outlive the index.
//
//   KeyIndex index(keys.size());
//   index.Add("fc.weight", 0);                 // nothing: it is new
//   index.Add("fc.weight", 1);                 // 0: it stood there already
//   index.Find("fc.weight")                    // 0
#ifndef REKEY_ENGINE_KEY_INDEX_H_
#define REKEY_ENGINE_KEY_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rekey {

class KeyIndex {
 public:
  explicit KeyIndex(size_t expected = 0);

  // Gives `key` that number, unless it has one already: then that one is returned.
  std::optional<uint32_t> Add(std::string_view key, uint32_t number);
  std::optional<uint32_t> Find(std::string_view key) const;

  // The same in two steps, for long lists: while one key is added, the places of the next ones
  // are on their way from memory.
  static uint32_t Hash(std::string_view key);
  void Prefetch(uint32_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)], 1); }
  std::optional<uint32_t> Add(std::string_view key, uint32_t hash, uint32_t number);

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t entry = 0;  // 1 + index into entries_; 0: free
  };
  struct Entry {
    std::string_view key;
    uint32_t number;
  };
  // The slot that holds the key, or the free one where it belongs.
  size_t SlotOf(std::string_view key, uint32_t hash) const;
  void Grow(size_t slots);

  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  std::vector<Entry> entries_;
};

}  // namespace rekey

#endif  // REKEY_ENGINE_KEY_INDEX_H_
