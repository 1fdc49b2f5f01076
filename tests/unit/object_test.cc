#include "engine/object.h"

#include <gtest/gtest.h>

namespace rekey {
namespace {

using Kind = Object::Kind;

class ObjectGraphTest : public ::testing::Test {
 protected:
  ObjectId Text(std::string text) { return g_.Add({.kind = Kind::kText, .text = std::move(text)}); }
  ObjectId Int(int64_t value) { return g_.Add({.kind = Kind::kInt, .integer = value}); }
  ObjectId Node(Kind kind, std::vector<ObjectId> items, ObjectId state = kNoObject) {
    return g_.Add({.kind = kind, .state = state, .items = std::move(items)});
  }
  ObjectId Global(std::string name) {
    return g_.Add({.kind = Kind::kGlobal, .text = std::move(name)});
  }
  ObjectGraph g_;
};

TEST_F(ObjectGraphTest, ChildrenOfDictsAndLists) {
  const ObjectId a = Int(1), b = Int(2), c = Int(3);
  const ObjectId list = Node(Kind::kList, {a, b});
  const ObjectId dict = Node(Kind::kDict, {Text("x"), list, Int(7), c, Text("y"), a, Text("y"), b});
  EXPECT_EQ(g_.Child(dict, "x"), list);
  EXPECT_EQ(g_.Child(dict, "7"), c);
  EXPECT_EQ(g_.Child(dict, "y"), b);  // as Python: the last one set
  EXPECT_EQ(g_.Child(dict, "z"), kNoObject);
  EXPECT_EQ(g_.Child(list, "1"), b);
  EXPECT_EQ(g_.Child(list, "2"), kNoObject);
  EXPECT_EQ(g_.Child(list, "-1"), kNoObject);
  EXPECT_EQ(g_.Child(list, "1x"), kNoObject);
  EXPECT_EQ(g_.Child(list, ""), kNoObject);
  EXPECT_EQ(g_.Child(a, "x"), kNoObject);
  EXPECT_EQ(g_.Find(dict, "x.0"), a);
}

TEST_F(ObjectGraphTest, LooksThroughCallsAndStates) {
  const ObjectId value = Int(5);
  const ObjectId attributes = Node(Kind::kDict, {Text("layers"), value});
  const ObjectId no_arguments = Node(Kind::kTuple, {});
  const ObjectId ordered =
      Node(Kind::kCall, {Global("collections.OrderedDict"), no_arguments, attributes});
  EXPECT_EQ(g_.Entries(ordered), attributes);
  EXPECT_EQ(g_.Child(ordered, "layers"), value);
  const ObjectId instance =
      Node(Kind::kCall, {Global("argparse.Namespace"), no_arguments}, attributes);
  EXPECT_EQ(g_.Child(instance, "layers"), value);
  const ObjectId pair = Node(Kind::kTuple, {g_.Add({}), attributes});
  const ObjectId slots = Node(Kind::kCall, {Global("a.Slots"), no_arguments}, pair);
  EXPECT_EQ(g_.Child(slots, "layers"), value);
  const ObjectId bare = Node(Kind::kCall, {Global("a.Bare"), no_arguments});
  EXPECT_EQ(g_.Entries(bare), kNoObject);
  EXPECT_EQ(g_.Child(bare, "layers"), kNoObject);
}

TEST_F(ObjectGraphTest, FindsKeysThatHoldDots) {
  const ObjectId value = Int(5), other = Int(6);
  const ObjectId inner = Node(Kind::kDict, {Text("c.d"), value, Text("c"), other});
  const ObjectId root = Node(Kind::kDict, {Text("a.b"), inner, Text("a"), other});
  EXPECT_EQ(g_.Find(root, "a.b.c.d"), value);
  EXPECT_EQ(g_.Find(root, "a.b.c"), other);
  EXPECT_EQ(g_.Find(root, "a"), other);
  EXPECT_EQ(g_.Find(root, "a.b.x"), kNoObject);
  EXPECT_EQ(g_.Find(root, ""), kNoObject);
  EXPECT_EQ(g_.Find(root, ".a"), kNoObject);
}

TEST_F(ObjectGraphTest, SurvivesAnObjectThatContainsItself) {
  const ObjectId key = Text("me");
  const ObjectId dict = Node(Kind::kDict, {});
  g_[dict].items = {key, dict};
  EXPECT_EQ(g_.Find(dict, "me.me.me"), dict);
  EXPECT_EQ(g_.Find(dict, "me.me.you"), kNoObject);
}

TEST_F(ObjectGraphTest, Scalars) {
  EXPECT_EQ(g_.ToScalar(Int(3)), Scalar(int64_t{3}));
  EXPECT_EQ(g_.ToScalar(g_.Add({.kind = Kind::kBool, .integer = 1})), Scalar(true));
  EXPECT_EQ(g_.ToScalar(g_.Add({.kind = Kind::kFloat, .real = 0.5})), Scalar(0.5));
  EXPECT_EQ(g_.ToScalar(Text("x")), Scalar(std::string("x")));
  EXPECT_EQ(g_.ToScalar(g_.Add({})), std::nullopt);
  EXPECT_EQ(g_.ToScalar(g_.Add({.kind = Kind::kBigInt, .text = "99"})), std::nullopt);
  EXPECT_EQ(g_.ToScalar(Node(Kind::kList, {})), std::nullopt);
}

}  // namespace
}  // namespace rekey
