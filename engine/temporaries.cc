#include "engine/temporaries.h"

#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "engine/execute.h"

namespace rekey {

// Nodes are put at the front and never freed, so that a signal handler may walk them at any time,
// and what was made last (a folder's files) is removed first.
struct Temporary::Node {
  Kind kind;
  std::string path;
  std::atomic<bool> live;
  Node* next;
};

namespace {

std::atomic<void*> first{nullptr};
static_assert(std::atomic<void*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

constexpr size_t kLongestName = 255;

}  // namespace

Temporary::Temporary(Kind kind, const std::string& path)
    : node_(new Node{kind, path, true, static_cast<Node*>(first.load())}) {
  void* expected = node_->next;
  while (!first.compare_exchange_weak(expected, node_)) node_->next = static_cast<Node*>(expected);
}

Temporary::Temporary(Temporary&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}

Temporary::~Temporary() {
  if (node_ == nullptr || !node_->live) return;
  if (node_->kind == Kind::kFile) {
    unlink(node_->path.c_str());
  } else {
    rmdir(node_->path.c_str());
  }
  node_->live = false;
}

std::string Temporary::path() const { return node_->path; }

void Temporary::Keep() { node_->live = false; }

void RemoveTemporaries() {
  for (auto* node = static_cast<Temporary::Node*>(first.load()); node != nullptr;
       node = node->next) {
    if (!node->live) continue;
    if (node->kind == Temporary::Kind::kFile) {
      unlink(node->path.c_str());
    } else {
      rmdir(node->path.c_str());
    }
  }
}

std::string TemporaryName(const std::string& path) {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) {
    number = static_cast<uint64_t>(getpid());
  }
  char digits[32];
  std::snprintf(digits, sizeof digits, ".rekey-%016llx", static_cast<unsigned long long>(number));
  const std::filesystem::path wanted(path);
  std::string name = "." + wanted.filename().string();
  const size_t room = kLongestName - std::string(digits).size();
  if (name.size() > room) name.resize(room);
  return (wanted.parent_path() / (name + digits)).string();
}

}  // namespace rekey
