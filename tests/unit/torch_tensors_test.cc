// Tensors in the forms of torch before 0.4, and calls that only look like tensors. torch 2.13 loads
// the old forms and finds the same elements: tried with files of such pickles (all but CUDA's).
#include "engine/formats/torch_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/formats/pickle_machine.h"

namespace rekey {
namespace {

using Kind = Object::Kind;
using namespace std::string_literals;
using ::testing::IsEmpty;

const std::string kStorage = "(U\x07storagectorch\nFloatStorage\nU\x01"s + "0U\x03" + "cpuK\x03tQ";
// Elements 1 and 2 of it.
const std::string kParts = kStorage + "K\x01K\x02\x85K\x01\x85";
const std::string kTensor = "ctorch._utils\n_rebuild_tensor\n(" + kParts + "tR";
const std::string kParameter = "ctorch.nn.parameter\nParameter\n";

struct Loaded {
  ObjectGraph graph;
  ObjectId root = kNoObject;
  TorchTensors torch;
};

// Of a pickle that is only `object`.
Loaded Load(const std::string& object) {
  Loaded loaded;
  const std::string bytes = "\x80\x02"s + object + ".";
  PickleInput input(bytes);
  const Result<Pickle> pickle = LoadPickle(input, "test", loaded.graph);
  EXPECT_TRUE(pickle.ok());
  if (!pickle.ok()) return loaded;
  loaded.root = pickle->root;
  loaded.torch = FindTorchTensors(loaded.graph);
  return loaded;
}

class OldForms : public ::testing::TestWithParam<std::pair<const char*, std::string>> {};

TEST_P(OldForms, AreTensors) {
  const Loaded loaded = Load(GetParam().second);
  const Object& root = loaded.graph[loaded.root];
  ASSERT_EQ(root.kind, Kind::kTensor);
  const TorchTensor& tensor = loaded.torch.tensors[static_cast<size_t>(root.integer)];
  EXPECT_EQ(tensor.fault, "");
  EXPECT_EQ(tensor.dtype, DType::kF32);
  EXPECT_EQ(ToString(tensor.shape), "[2]");
  EXPECT_EQ(tensor.start, 4u);
  EXPECT_EQ(loaded.torch.storages[tensor.storage].key, "0");
  EXPECT_THAT(loaded.torch.others, IsEmpty());
  EXPECT_THAT(loaded.torch.callables, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    OfEach, OldForms,
    ::testing::Values(
        std::pair("Parameter", kParameter + kTensor + "\x85\x81"),
        std::pair("ParameterWithState", kParameter + kTensor + "\x85\x81\x88\x89N\x87"s + "b"),
        std::pair("ParameterOfState", kParameter + ")\x81(" + kTensor + "NN\x88\x89tb"),
        std::pair("ParameterProtocol1", "ccopy_reg\n__newobj__\n(" + kParameter + kTensor + "tR"),
        std::pair("Variable", "ctorch.autograd.variable\nVariable\n" + kTensor + "\x85R"),
        std::pair("FloatTensor", "ctorch\nFloatTensor\n)\x81(" + kParts + "tb"),
        std::pair("CudaTensor", "ctorch.cuda\nFloatTensor\n)\x81(" + kParts + "tb"),
        std::pair("Tensor", "ctorch\nTensor\n)\x81(" + kParts + "tb"),
        std::pair("ParameterOfTensor",
                  kParameter + "ctorch\nTensor\n)\x81(" + kParts + "tb" + "\x85\x81")),
    [](const auto& info) { return info.param.first; });

TEST(TorchTensors, InstanceOfATensorClassWithNothingInItIsNotTaken) {
  for (const std::string& object : {"ctorch\nTensor\n)\x81"s, kParameter + ")\x81N}\x86"s + "b",
                                    kParameter + "N\x85\x81", kParameter + "K\x05\x85R"}) {
    const Loaded loaded = Load(object);
    EXPECT_EQ(loaded.graph[loaded.root].kind, Kind::kCall);
    EXPECT_EQ(loaded.torch.others.count(loaded.root), 1u);
  }
}

// torch asks for a tuple; protocol 0 writes a text, and its own loader then gives up.
TEST(TorchTensors, StorageMustBeATuple) {
  for (const std::string& storage :
       {"P('storage', 'cpu')\n"s, "K\x01Q"s, "NQ"s, ")Q"s, "K\x01\x85Q"s, "(K\x01K\x02K\x03tQ"s}) {
    const Loaded loaded = Load("ctorch._utils\n_rebuild_tensor\n(" + storage + "K\x01))tR");
    ASSERT_EQ(loaded.graph[loaded.root].kind, Kind::kTensor);
    ASSERT_EQ(loaded.torch.tensors.size(), 1u);
    EXPECT_EQ(loaded.torch.tensors[0].fault, "lies in a storage of a kind that is not known here");
    EXPECT_THAT(loaded.torch.storages, IsEmpty());
  }
}

}  // namespace
}  // namespace rekey
