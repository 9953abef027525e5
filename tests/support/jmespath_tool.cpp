// Reads lines of JSON, [expression, document], and answers each with a line: {"result": ...} or {"error":
// "..."}.

#include <iostream>
#include <string>

#include "wire/jmespath.h"

int main() {
    using namespace lavant;
    using wire::Json;
    for (std::string line; std::getline(std::cin, line);) {
        const auto question = wire::parse_json(line);
        if (!question || question->size() != 2) {
            std::cerr << "jmespath_tool: a line is no [expression, document]\n";
            return 2;
        }
        const auto query = wire::parse_query(question->items()[0].text());
        const auto result =
            query ? wire::evaluate(*query, question->items()[1]) : Result<Json>(fail(query.error()));
        const Json answer =
            result ? Json::object({{"result", *result}}) : Json::object({{"error", result.error().message}});
        std::cout << answer.dump() << '\n';
    }
    return 0;
}
