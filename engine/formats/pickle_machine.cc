#include "engine/formats/pickle_machine.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/formats/pickle_opcodes.h"
#include "engine/formats/pickle_text.h"
#include "engine/json.h"

namespace rekey {
namespace {

using Kind = Object::Kind;
using namespace pickle;  // the opcodes

// Longer integers are no honest part of a checkpoint, and their decimal form costs the square.
constexpr uint64_t kMaxIntegerBytes = 1024;

// Slots in order take 4 bytes; one that skips ahead takes a hash node, not the slots before it.
class Memo {
 public:
  void Put(uint64_t slot, ObjectId id) {
    if (slot < dense_.size()) {
      dense_[slot] = id;
    } else if (slot == dense_.size()) {
      dense_.push_back(id);
      if (!sparse_.empty()) sparse_.erase(slot);
    } else {
      sparse_[slot] = id;
    }
  }
  ObjectId Get(uint64_t slot) const {
    if (slot < dense_.size()) return dense_[slot];
    const auto it = sparse_.find(slot);
    return it == sparse_.end() ? kNoObject : it->second;
  }
  uint64_t size() const { return dense_.size() + sparse_.size(); }

 private:
  std::vector<ObjectId> dense_;
  std::unordered_map<uint64_t, ObjectId> sparse_;
};

class Machine {
 public:
  Machine(PickleInput& input, std::string_view name, ObjectGraph& graph)
      : input_(input), name_(name), graph_(graph), start_(input.position()) {
    small_.fill(kNoObject);
  }

  Result<Pickle> Run() {
    for (;;) {
      const char* opcode = input_.Take(1);
      if (opcode == nullptr) {
        Truncated();
      } else if (static_cast<uint8_t>(*opcode) == kStop) {
        const ObjectId root = Pop();
        if (!fault_) return Pickle{root, input_.position() - start_};
      } else {
        Step(static_cast<uint8_t>(*opcode));
      }
      if (fault_) return std::move(*fault_);
    }
  }

 private:
  // --- Faults: the first one stands, and Run looks at it after every opcode.

  void Fail(const std::string& what) {
    if (fault_) return;
    fault_ = Error("bad-pickle", std::string(name_) + ": the pickle is damaged at byte " +
                                     std::to_string(input_.position() - start_) + ": " + what)
                 .Help("download or copy it again");
  }
  void Truncated() {
    if (fault_) return;
    if (!input_.status().ok()) {
      fault_ = input_.status().error();
      return;
    }
    fault_ = Error("truncated-pickle", std::string(name_) +
                                           ": the pickle is cut short: it goes on past "
                                           "its last byte, " +
                                           std::to_string(input_.position() - start_))
                 .Help("download or copy it again");
  }

  // --- Operands.

  uint64_t Number(size_t bytes) {
    const char* at = input_.Take(bytes);
    if (at == nullptr) {
      Truncated();
      return 0;
    }
    uint64_t value = 0;
    for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<uint8_t>(at[i]);
    return value;
  }
  // A length of `bytes` bytes and then the text; checked before it is copied.
  std::string Counted(size_t bytes) {
    const uint64_t length = Number(bytes);
    if (fault_) return {};
    if (length > input_.remaining()) {
      Fail("a length of " + std::to_string(length) + " where " +
           std::to_string(input_.remaining()) + " bytes remain");
      return {};
    }
    const char* at = input_.Take(length);
    if (at == nullptr) {
      Truncated();
      return {};
    }
    return std::string(at, length);
  }
  std::string Line() {
    const std::optional<std::string_view> line = input_.TakeLine();
    if (!line) {
      Truncated();
      return {};
    }
    return std::string(line->ends_with('\r') ? line->substr(0, line->size() - 1) : *line);
  }
  uint64_t Slot(const std::string& line) {
    uint64_t slot = 0;
    const char* end = line.data() + line.size();
    const auto parsed = std::from_chars(line.data(), end, slot);
    if (parsed.ec != std::errc() || parsed.ptr != end) Fail("a memo slot that is no number");
    return slot;
  }

  // --- The stack.

  void Push(ObjectId id) { stack_.push_back(id); }
  void Push(Object object) {
    if (graph_.size() >= kNoObject) return Fail("more than 2^32 objects");
    stack_.push_back(graph_.Add(std::move(object)));
  }
  void PushText(std::string text) {
    const Kind kind = IsUtf8(text) ? Kind::kText : Kind::kBytes;
    Push({.kind = kind, .text = std::move(text)});
  }
  void PushInt(int64_t value) {
    if (value < 0 || value >= static_cast<int64_t>(small_.size())) {
      return Push({.kind = Kind::kInt, .integer = value});
    }
    // Small integers repeat without end in shapes and strides. Nothing can change a node of them.
    ObjectId& shared = small_[static_cast<size_t>(value)];
    if (shared == kNoObject) shared = graph_.Add({.kind = Kind::kInt, .integer = value});
    Push(shared);
  }
  void PushShared(ObjectId& shared, Kind kind, int64_t integer = 0) {
    if (shared == kNoObject) shared = graph_.Add({.kind = kind, .integer = integer});
    Push(shared);
  }
  // Pops are confined to what stands above the last mark.
  size_t Floor() const { return marks_.empty() ? 0 : marks_.back(); }
  ObjectId Pop() {
    if (stack_.size() <= Floor()) {
      Fail("an opcode that takes more from the stack than is on it");
      return kNoObject;
    }
    const ObjectId id = stack_.back();
    stack_.pop_back();
    return id;
  }
  ObjectId Top() {
    if (stack_.size() <= Floor()) {
      Fail("an opcode that needs an object on the stack");
      return kNoObject;
    }
    return stack_.back();
  }
  // What stands above the last mark, which goes too.
  std::vector<ObjectId> PopToMark() {
    if (marks_.empty()) {
      Fail("an opcode that needs a mark on the stack");
      return {};
    }
    const auto begin = stack_.begin() + static_cast<ptrdiff_t>(marks_.back());
    std::vector<ObjectId> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }

  // --- Opcodes that do more than push.

  void PushTuple(size_t count) {
    std::vector<ObjectId> items(count);
    for (size_t i = count; i-- > 0;) items[i] = Pop();
    if (!fault_) Push({.kind = Kind::kTuple, .items = std::move(items)});
  }

  // The function that stands for NEWOBJ in protocols 0 and 1.
  bool IsNewObj(ObjectId id) const {
    const Object& callee = graph_[id];
    return callee.kind == Kind::kGlobal &&
           (callee.text == "copyreg.__newobj__" || callee.text == "copy_reg.__newobj__");
  }

  void Call(ObjectId callee, ObjectId arguments, bool is_new) {
    if (fault_) return;
    if (graph_[arguments].kind != Kind::kTuple) return Fail("a call whose arguments are no tuple");
    if (!is_new && IsNewObj(callee) && !graph_[arguments].items.empty()) {
      std::vector<ObjectId> items = graph_[arguments].items;
      const ObjectId type = items.front();
      items.erase(items.begin());
      return Instance(type, std::move(items));
    }
    Push({.kind = Kind::kCall, .is_new = is_new, .items = {callee, arguments}});
  }

  // OBJ and INST: the arguments stand on the stack above the mark.
  void Instance(ObjectId callee, std::vector<ObjectId> arguments) {
    if (fault_) return;
    Push({.kind = Kind::kTuple, .items = std::move(arguments)});
    Call(callee, Pop(), true);
  }

  void NewObjEx() {
    const ObjectId named = Pop();
    const ObjectId arguments = Pop();
    const ObjectId callee = Pop();
    if (fault_) return;
    const bool has_named = !graph_[named].items.empty();
    if (!has_named) return Call(callee, arguments, true);
    Instance(callee, {arguments, named});
  }

  void StackGlobal() {
    const ObjectId name = Pop();
    const ObjectId module = Pop();
    if (fault_) return;
    if (graph_[module].kind != Kind::kText || graph_[name].kind != Kind::kText) {
      return Fail("a global whose name is no text");
    }
    PushGlobal(graph_[module].text, graph_[name].text);
  }
  void PushGlobal(const std::string& module, const std::string& name) {
    if (!IsUtf8(module) || !IsUtf8(name)) return Fail("a global whose name is not UTF-8");
    Push({.kind = Kind::kGlobal, .text = module + "." + name});
  }

  // The dict, list or set that is filled: the object itself, or for the result of a call the third
  // item (object.h).
  ObjectId Container(ObjectId id, Kind kind) {
    if (fault_ || graph_[id].kind == kind) return id;
    if (graph_[id].kind != Kind::kCall) {
      Fail("entries for an object that takes none");
      return kNoObject;
    }
    if (graph_[id].items.size() == 2) {
      const ObjectId filled = graph_.Add({.kind = kind});
      graph_[id].items.push_back(filled);
      return filled;
    }
    const ObjectId filled = graph_[id].items[2];
    if (graph_[filled].kind != kind) Fail("an object that is filled as a dict and as a list");
    return filled;
  }
  void AddTo(ObjectId target, Kind kind, const std::vector<ObjectId>& items) {
    if (kind == Kind::kDict && items.size() % 2 != 0) return Fail("a key without its value");
    const ObjectId container = Container(target, kind);
    if (fault_) return;
    std::vector<ObjectId>& into = graph_[container].items;
    into.insert(into.end(), items.begin(), items.end());
  }

  void Build() {
    const ObjectId state = Pop();
    const ObjectId object = Top();
    if (fault_) return;
    if (graph_[object].kind != Kind::kCall) return Fail("a state for an object that has none");
    graph_[object].state = state;
  }

  void Float(const std::string& line) {
    char* end = nullptr;
    const double value = std::strtod(line.c_str(), &end);
    if (line.empty() || *end != '\0') return Fail("a float that is no number");
    Push({.kind = Kind::kFloat, .real = value});
  }
  void BinFloat() {
    const uint64_t little = Number(8);
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8 | ((little >> (8 * i)) & 0xff);
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    Push({.kind = Kind::kFloat, .real = value});
  }

  void Integer(std::string line) {
    if (line == "00") return PushShared(false_, Kind::kBool, 0);
    if (line == "01") return PushShared(true_, Kind::kBool, 1);
    if (line.ends_with('L')) line.pop_back();
    int64_t value = 0;
    const char* end = line.data() + line.size();
    const auto parsed = std::from_chars(line.data(), end, value);
    if (parsed.ec == std::errc() && parsed.ptr == end) return PushInt(value);
    const size_t digits = line.starts_with('-') ? 1 : 0;
    const bool is_number = parsed.ec == std::errc::result_out_of_range && parsed.ptr == end;
    if (!is_number || line.size() - digits > 3 * kMaxIntegerBytes) {
      return Fail("an integer that is no number");
    }
    Push({.kind = Kind::kBigInt, .text = std::move(line)});
  }
  void Long(size_t length_bytes) {
    const std::string bytes = Counted(length_bytes);
    if (fault_) return;
    if (bytes.size() > kMaxIntegerBytes) {
      return Fail("an integer of " + std::to_string(bytes.size()) + " bytes");
    }
    if (bytes.size() > 8)
      return Push({.kind = Kind::kBigInt, .text = DecimalOfLittleEndian(bytes)});
    uint64_t value = 0;
    for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
    const unsigned unused = 64 - 8 * static_cast<unsigned>(bytes.size());
    PushInt(bytes.empty() ? 0 : static_cast<int64_t>(value << unused) >> unused);
  }

  void PushDecoded(std::optional<std::string> text) {
    if (fault_) return;
    if (!text) return Fail("a text with a broken escape");
    PushText(std::move(*text));
  }

  void Get(uint64_t slot) {
    if (fault_) return;
    const ObjectId id = memo_.Get(slot);
    if (id == kNoObject) return Fail("memo slot " + std::to_string(slot) + " was never filled");
    Push(id);
  }
  void Put(uint64_t slot) {
    const ObjectId id = Top();
    if (!fault_) memo_.Put(slot, id);
  }

  void PopOrMark() {
    if (!marks_.empty() && stack_.size() == marks_.back()) return marks_.pop_back();
    Pop();
  }

  void Proto() {
    const uint64_t protocol = Number(1);
    if (protocol > 5) Fail("protocol " + std::to_string(protocol) + ", the newest known is 5");
  }
  void Frame() {
    const uint64_t length = Number(8);
    if (!fault_ && length > input_.remaining()) {
      Fail("a frame of " + std::to_string(length) + " bytes where " +
           std::to_string(input_.remaining()) + " remain");
    }
  }

  void Step(uint8_t opcode) {
    switch (opcode) {
      case kMark:
        return marks_.push_back(stack_.size());
      case kPop:
        return PopOrMark();
      case kPopMark:
        PopToMark();
        return;
      case kDup: {
        const ObjectId top = Top();
        if (!fault_) Push(top);
        return;
      }

      case kNone:
        return PushShared(none_, Kind::kNone);
      case kNewTrue:
        return PushShared(true_, Kind::kBool, 1);
      case kNewFalse:
        return PushShared(false_, Kind::kBool, 0);
      case kInt:
      case kLong:
        return Integer(Line());
      case kBinInt:
        return PushInt(static_cast<int32_t>(Number(4)));
      case kBinInt1:
        return PushInt(static_cast<int64_t>(Number(1)));
      case kBinInt2:
        return PushInt(static_cast<int64_t>(Number(2)));
      case kLong1:
        return Long(1);
      case kLong4:
        return Long(4);
      case kFloat:
        return Float(Line());
      case kBinFloat:
        return BinFloat();

      case kString:
        return PushDecoded(Unquote(Line()));
      case kUnicode:
        return PushDecoded(FromRawUnicodeEscape(Line()));
      case kShortBinString:
      case kShortBinUnicode:
        return PushText(Counted(1));
      case kBinString:
      case kBinUnicode:
        return PushText(Counted(4));
      case kBinUnicode8:
        return PushText(Counted(8));
      case kShortBinBytes:
        return Push({.kind = Kind::kBytes, .text = Counted(1)});
      case kBinBytes:
        return Push({.kind = Kind::kBytes, .text = Counted(4)});
      case kBinBytes8:
      case kByteArray8:
        return Push({.kind = Kind::kBytes, .text = Counted(8)});

      case kEmptyTuple:
        return PushShared(empty_, Kind::kTuple);
      case kTuple1:
        return PushTuple(1);
      case kTuple2:
        return PushTuple(2);
      case kTuple3:
        return PushTuple(3);
      case kTuple:
        return Push({.kind = Kind::kTuple, .items = PopToMark()});
      case kEmptyList:
        return Push({.kind = Kind::kList});
      case kList:
        return Push({.kind = Kind::kList, .items = PopToMark()});
      case kEmptyDict:
        return Push({.kind = Kind::kDict});
      case kDict: {
        const std::vector<ObjectId> items = PopToMark();
        Push({.kind = Kind::kDict});
        return AddTo(Top(), Kind::kDict, items);
      }
      case kEmptySet:
        return Push({.kind = Kind::kSet});
      case kFrozenSet:
        return Push({.kind = Kind::kSet, .items = PopToMark()});
      case kAppend: {
        const ObjectId item = Pop();
        return AddTo(Top(), Kind::kList, {item});
      }
      case kAppends: {
        const std::vector<ObjectId> items = PopToMark();
        return AddTo(Top(), Kind::kList, items);
      }
      case kAddItems: {
        const std::vector<ObjectId> items = PopToMark();
        return AddTo(Top(), Kind::kSet, items);
      }
      case kSetItem: {
        const ObjectId value = Pop();
        const ObjectId key = Pop();
        return AddTo(Top(), Kind::kDict, {key, value});
      }
      case kSetItems: {
        const std::vector<ObjectId> items = PopToMark();
        return AddTo(Top(), Kind::kDict, items);
      }

      case kGlobal: {
        const std::string module = Line();
        const std::string name = Line();
        return PushGlobal(module, name);
      }
      case kStackGlobal:
        return StackGlobal();
      case kReduce:
      case kNewObj: {
        const ObjectId arguments = Pop();
        const ObjectId callee = Pop();
        return Call(callee, arguments, opcode == kNewObj);
      }
      case kNewObjEx:
        return NewObjEx();
      case kObj: {
        std::vector<ObjectId> items = PopToMark();
        if (items.empty()) return Fail("an instance of nothing");
        const ObjectId callee = items.front();
        items.erase(items.begin());
        return Instance(callee, std::move(items));
      }
      case kInst: {
        const std::string module = Line();
        const std::string name = Line();
        std::vector<ObjectId> items = PopToMark();
        PushGlobal(module, name);
        return Instance(Pop(), std::move(items));
      }
      case kBuild:
        return Build();
      case kPersId:
        PushText(Line());
        return Push({.kind = Kind::kPersistent, .integer = -1, .items = {Pop()}});
      case kBinPersId:
        return Push({.kind = Kind::kPersistent, .integer = -1, .items = {Pop()}});

      case kGet:
        return Get(Slot(Line()));
      case kBinGet:
        return Get(Number(1));
      case kLongBinGet:
        return Get(Number(4));
      case kPut:
        return Put(Slot(Line()));
      case kBinPut:
        return Put(Number(1));
      case kLongBinPut:
        return Put(Number(4));
      case kMemoize:
        return Put(memo_.size());

      case kProto:
        return Proto();
      case kFrame:
        return Frame();
      case kExt1:
      case kExt2:
      case kExt4:
        return Fail("an extension code, which has a meaning only in the program that wrote it");
      case kNextBuffer:
      case kReadonlyBuffer:
        return Fail("a buffer that is kept outside of the pickle");
      default:
        return Fail("byte " + std::to_string(opcode) + " is no opcode");
    }
  }

  PickleInput& input_;
  const std::string_view name_;
  ObjectGraph& graph_;
  const uint64_t start_;
  std::vector<ObjectId> stack_;
  std::vector<size_t> marks_;  // stack sizes
  Memo memo_;
  std::array<ObjectId, 256> small_;
  ObjectId empty_ = kNoObject;  // the tuple of nothing
  ObjectId none_ = kNoObject;
  ObjectId true_ = kNoObject;
  ObjectId false_ = kNoObject;
  std::optional<Diagnostic> fault_;
};

}  // namespace

Result<Pickle> LoadPickle(PickleInput& input, std::string_view name, ObjectGraph& graph) {
  return Machine(input, name, graph).Run();
}

}  // namespace rekey
