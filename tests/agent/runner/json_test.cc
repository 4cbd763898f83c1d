#include "agent/runner/json.h"

#include <gtest/gtest.h>

namespace kernelfleet::runner {
namespace {

TEST(JsonTest, ReadsACommandAsItIsWritten) {
  const auto value = Json::Parse(
      R"( {"op":"run","id":"7.1","run_s":1.5e1,"bytes":"123","flag":true,
           "environment":{"A":"\u00e9\n\"","B":"\ud83d\ude00"},"list":[1,[]]} )");
  ASSERT_TRUE(value);
  EXPECT_EQ((*value)["op"].AsString(), "run");
  EXPECT_EQ((*value)["run_s"].AsDouble(0), 15);
  EXPECT_EQ((*value)["bytes"].AsInt64(0), 123);
  EXPECT_EQ((*value)["environment"]["A"].AsString(), "\xC3\xA9\n\"");
  EXPECT_EQ((*value)["environment"]["B"].AsString(), "\xF0\x9F\x98\x80");
  EXPECT_EQ((*value)["absent"]["deeper"].AsString("none"), "none");
}

TEST(JsonTest, RefusesWhatIsNoJson) {
  for (const char* text :
       {"",          " ",           "{",   "}",   "[1,]",     "{\"a\"}",
        "{\"a\":}",  "{\"a\":1,}",  "tru", "1 2", "\"\x01\"", "\"\\x\"",
        "\"\\u12\"", "\"\\ud800\"", "-",   "1e",  "nan",      "'a'",
        "{1:2}",     "\"open",      "0x10"}) {
    EXPECT_FALSE(Json::Parse(text)) << text;
  }
}

TEST(JsonTest, NestingHasALimitAndNoStackIsSpent) {
  EXPECT_TRUE(Json::Parse(std::string(60, '[') + std::string(60, ']')));
  EXPECT_FALSE(Json::Parse(std::string(1'000'000, '[')));
}

TEST(JsonTest, AValueOfAnotherKindGivesTheDefault) {
  const auto value = Json::Parse(R"({"s":"x","n":1.5,"huge":1e999,"b":true})");
  EXPECT_EQ((*value)["s"].AsInt64(7), 7);
  EXPECT_EQ((*value)["n"].AsInt64(7), 7);
  EXPECT_EQ((*value)["n"].AsString("d"), "d");
  EXPECT_EQ((*value)["huge"].AsDouble(7), 7);
  EXPECT_EQ((*value)["b"].AsDouble(7), 7);
}

TEST(JsonTest, WritesWhatItReads) {
  const std::string nasty("a\"\\\n\x7F\xC3\xA9\0b", 9);
  const std::string text = JsonObject()
                               .Add("text", nasty)
                               .Add("whole", int64_t{-5})
                               .Add("yes", true)
                               .AddObject("inner", JsonObject().Add("x", 1))
                               .text();
  const auto value = Json::Parse(text);
  ASSERT_TRUE(value) << text;
  EXPECT_EQ((*value)["text"].AsString(), nasty);
  EXPECT_EQ((*value)["whole"].AsInt64(0), -5);
  EXPECT_EQ((*value)["inner"]["x"].AsInt64(0), 1);
}

TEST(JsonTest, BytesThatAreNoUtf8AreReplaced) {
  for (const char* bytes :
       {"\xFF", "\xC0\xAF", "\xED\xA0\x80", "\xF5\x80", "\xE2\x82", "\x80"}) {
    const std::string text = JsonObject().Add("t", bytes).text();
    EXPECT_NE(text.find("\xEF\xBF\xBD"), std::string::npos) << text;
    EXPECT_TRUE(Json::Parse(text));
  }
}

}  // namespace
}  // namespace kernelfleet::runner
