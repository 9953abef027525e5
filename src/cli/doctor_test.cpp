#include "cli/doctor.h"

#include <gtest/gtest.h>

#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

using ports::HostCheck;

TEST(Doctor, TellsWhatIsMissingAndFailsOnlyForWhatStopsJobs) {
    FakeServer server;
    FakeTerminal terminal;
    terminal.variables["HOME"] = "/h";
    Context context = terminal.context(server);
    std::string asked;
    HostCheck::Mark mark = HostCheck::Mark::Off;
    context.check_host = [&](const std::string& data) -> std::vector<HostCheck> {
        asked = data;
        return {{"kernel", HostCheck::Mark::Ok, "Linux 6", "", ""},
                {"podman", mark, "not\x1b found", "images do not run", "sudo apt install podman"}};
    };
    EXPECT_EQ(run_doctor(context, {}, {}).value(), Exit::Completed);
    EXPECT_EQ(asked, "/h/.local/state/lavant");
    EXPECT_EQ(terminal.out.str(),
              "ok   configuration  fine\n"
              "ok   kernel         Linux 6\n"
              "off  podman         not? found\n"
              "                    images do not run\n"
              "                    try: sudo apt install podman\n");
    mark = HostCheck::Mark::Bad;
    EXPECT_EQ(run_doctor(context, {}, {Format::None}).value(), Exit::Failed);
    mark = HostCheck::Mark::Ok;
    context.config_error = Failure(Error{ErrorCode::InvalidArgument, "f.yml is not valid", {}});
    terminal.out.str("");
    EXPECT_EQ(run_doctor(context, {}, {Format::Json}).value(), Exit::Failed);
    const auto shown = wire::parse_json(terminal.out.str()).value();
    EXPECT_EQ(shown.items().at(0)["mark"].text(), "bad");
    EXPECT_EQ(shown.items().at(2)["remedy"].text(), "sudo apt install podman");
}

}  // namespace
}  // namespace lavant::cli
