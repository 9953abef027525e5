#include "cli/login.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/connect.h"
#include "cli/contexts.h"
#include "cli/fingerprint.h"
#include "wire/json.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr int kAskTimeoutS = 20;
constexpr std::size_t kKeyBytesMax = 4U << 10;
constexpr std::size_t kUrlCharsMax = 500;

ports::ClientRequest request_for(const std::string& url) {
    ports::ClientRequest request;
    request.url = url;
    request.timeout_s = kAskTimeoutS;
    return request;
}

bool system_trusts(Context& context, const std::string& url) {
    const auto answer = context.make_client("")->send(request_for(url + "/health"));
    return answer && answer->status == 200;
}

Outcome<std::string> read_authority(const std::string& file) {
    LAVANT_TRY(const std::string pem, read_file(file, kCertificateBytesMax));
    const auto certificate = first_certificate(pem);
    if (!certificate)
        return stop(Exit::Usage, ErrorCode::InvalidArgument, "there is no certificate (PEM) in " + file);
    return *certificate;
}

// Over a connection that proves nothing: what it says counts only after it was compared.
Outcome<std::string> fetch_authority(Context& context, const std::string& url) {
    const auto answer = context.make_unverified_client()->send(request_for(url + "/lavant/v1/ca"));
    if (!answer) return tl::make_unexpected(Failure(Exit::Unreachable, answer.error()));
    const auto certificate = answer->status == 200
                                 ? first_certificate(answer->body.substr(0, kCertificateBytesMax))
                                 : std::nullopt;
    if (!certificate)
        return stop(Exit::Unreachable, ErrorCode::Unavailable,
                    fmt::format("this machine does not trust the certificate of {}, and the server offers no "
                                "authority of its own; get its authority's file and give it: --ca FILE",
                                url));
    return *certificate;
}

Outcome<void> compare(const std::string& shown, const std::string& wanted) {
    const std::string normal = normal_fingerprint(wanted);
    if (normal.empty())
        return stop(
            Exit::Usage, ErrorCode::InvalidArgument,
            "--fingerprint is no SHA-256: it has 64 hexadecimal digits, as `lavant status` shows them "
            "on the server");
    if (normal != shown)
        return stop(
            Exit::Unreachable, ErrorCode::Unavailable,
            fmt::format("the server's authority has another fingerprint: it shows {}, expected is {}; "
                        "nothing was sent to it",
                        shown, normal));
    return {};
}

Outcome<void> ask_to_trust(Context& context, const std::string& url, const std::string& fingerprint,
                           const std::string& pinned) {
    context.console.err << fmt::format("The certificate authority of {} has the fingerprint\n  {}\n", url,
                                       fingerprint);
    if (!pinned.empty()) {
        context.console.err << context.console.painted(
            fmt::format("It is NOT the one that was pinned before:\n  {}\n", pinned), Colour::Red);
    }
    context.console.err << "Compare it with what `lavant status` shows on the server.\n";
    context.console.err.flush();
    if (!context.person.is_there())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "nobody can be asked without a terminal; give --fingerprint SHA256, or -y to trust it");
    const auto answer = context.person.ask("Is it the same? [y/N] ");
    const std::string word = answer ? to_lower(trim(*answer)) : "";
    if (word == "y" || word == "yes") return {};
    return stop(Exit::Usage, ErrorCode::InvalidArgument, "not trusted; nothing was sent or kept");
}

struct Trust {
    std::string ca;  // PEM; "": what the system trusts
};

Outcome<Trust> find_trust(Context& context, const LoginOptions& options, const std::string& url,
                          const std::string& pinned) {
    if (!options.ca_file.empty()) {
        LAVANT_TRY(std::string ca, read_authority(options.ca_file));
        if (!options.fingerprint.empty())
            LAVANT_TRY_VOID(compare(fingerprint_of(ca, context.crypto), options.fingerprint));
        return Trust{std::move(ca)};
    }
    if (options.fingerprint.empty() && pinned.empty() && system_trusts(context, url)) return Trust{};
    LAVANT_TRY(std::string ca, fetch_authority(context, url));
    const std::string shown = fingerprint_of(ca, context.crypto);
    if (!options.fingerprint.empty()) {
        LAVANT_TRY_VOID(compare(shown, options.fingerprint));
    } else if (options.yes && !pinned.empty() && shown != pinned) {
        return stop(
            Exit::Usage, ErrorCode::Conflict,
            fmt::format("{} has the certificate authority {} now, and {} is pinned; if that is right, say so "
                        "with --fingerprint {}",
                        url, shown, pinned, shown));
    } else if (options.yes) {
        context.console.err << fmt::format("trusting the certificate authority {}\n", shown);
    } else if (shown != pinned) {
        LAVANT_TRY_VOID(ask_to_trust(context, url, shown, pinned));
    }
    return Trust{std::move(ca)};
}

Outcome<std::string> find_key(Context& context, const LoginOptions& options, const std::string& url) {
    std::string text;
    if (options.key_file == "-") {
        LAVANT_TRY(text, context.person.read_input(kKeyBytesMax));
    } else if (!options.key_file.empty()) {
        LAVANT_TRY(text, read_file(options.key_file, kKeyBytesMax));
    } else if (context.person.is_there()) {
        text = context.person.ask_secret(fmt::format("Key for {} (not shown): ", url)).value_or("");
    } else {
        return stop(
            Exit::Usage, ErrorCode::InvalidArgument,
            "nobody can be asked for the key without a terminal; give --key-file FILE, or - for standard "
            "input");
    }
    const std::string key(trim(text));
    const bool fits = std::ranges::all_of(key, [](char c) { return c > 0x20 && c < 0x7f; });
    if (key.empty() || !fits)
        return stop(
            Exit::Usage, ErrorCode::InvalidArgument,
            "that is no key: it is one word of printable characters, made with `lavant key create USER` "
            "on the server");
    return key;
}

// A client reads its authority from a file; this one is not pinned before it has proved itself.
class TemporaryFile {
 public:
    static Outcome<TemporaryFile> with(const Context& context, const std::string& text) {
        const std::string folder = parent_of(context_folder(context, "x"));
        LAVANT_TRY_VOID(make_directories(folder));
        std::string path = fmt::format("{}/.ca-{}", folder, to_hex(context.crypto.random_bytes(8)));
        LAVANT_TRY_VOID(write_file_atomically(path, text, 0600));
        return TemporaryFile(std::move(path));
    }
    TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    TemporaryFile& operator=(TemporaryFile&&) = delete;
    ~TemporaryFile() {
        if (!path_.empty()) (void)remove_tree(path_);
    }
    const std::string& path() const { return path_; }

 private:
    explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

Outcome<Json> ask_who_i_am(Context& context, const std::string& url, const std::string& ca,
                           const std::string& key) {
    LAVANT_TRY(const TemporaryFile file, TemporaryFile::with(context, ca));
    Session session(context.make_client(ca.empty() ? "" : file.path()), {url, file.path(), key});
    ports::ClientRequest request = request_for(session.own_path("/status"));
    LAVANT_TRY(const ports::HttpResponse answer, session.send(std::move(request)));
    if (answer.status == 401)
        return stop(
            Exit::Refused, ErrorCode::Unauthenticated,
            fmt::format("{} does not know this key; make one there with: lavant key create USER", url));
    if (answer.status != 200) return tl::make_unexpected(Session::refusal(answer, "log in"));
    auto status = wire::parse_json(answer.body);
    if (!status || !(*status)["user"].is_string())
        return stop(Exit::Refused, ErrorCode::Internal,
                    fmt::format("{} does not answer as a Lavant server does; check the URL", url));
    return std::move(*status);
}

Outcome<std::string> choose_name(const Context& context, const LoginOptions& options,
                                 const std::string& url) {
    const std::string name = options.name.empty() ? name_from_url(url) : options.name;
    if (!is_context_name(name))
        return stop(
            Exit::Usage, ErrorCode::InvalidArgument,
            fmt::format("'{}' cannot be the name of a context: give --name with letters, digits, '.', '_' "
                        "and '-', at most 64 (and neither 'local' nor 'current')",
                        printable(name.substr(0, 80))));
    if (!exists(context_folder(context, name) + "/context.yml")) return name;
    LAVANT_TRY(const StoredContext before, load_context(context, name));
    if (before.url != url && options.name.empty())
        return stop(
            Exit::Usage, ErrorCode::AlreadyExists,
            fmt::format("context '{}' is for {}; give this one another name: --name NAME", name, before.url));
    return name;
}

}  // namespace

Outcome<std::string> server_url(std::string text) {
    const auto wrong = [&](std::string_view why) {
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    fmt::format("'{}' is no server's address: {}; write https://HOST:PORT",
                                printable(text.substr(0, 200)), why));
    };
    if (text.size() > kUrlCharsMax) return wrong("it is too long");
    if (text.starts_with("http://")) return wrong("keys do not go over a connection without TLS");
    std::string_view rest = text;
    if (rest.starts_with("https://")) rest.remove_prefix(8);
    while (rest.ends_with('/')) rest.remove_suffix(1);
    if (rest.empty() || rest.find("://") != std::string_view::npos)
        return wrong("it must begin with https://");
    if (rest.find('@') != std::string_view::npos) return wrong("it has a user's name in it");
    const bool fits = std::ranges::all_of(rest, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
               c == '-' || c == '_' || c == ':' || c == '[' || c == ']';
    });
    if (!fits) return wrong("only a host and a port may stand in it");
    return "https://" + to_lower(rest);
}

std::string name_from_url(const std::string& url) {
    std::string host = url.substr(std::min(url.size(), std::string_view("https://").size()));
    if (host.starts_with('[')) {
        host = host.substr(1, host.find(']') - 1);
        std::ranges::replace(host, ':', '-');
        return host.starts_with('-') ? "ip6" + host : host;
    }
    return host.substr(0, host.find(':'));
}

Outcome<Exit> log_in(Context& context, const LoginOptions& options) {
    LAVANT_TRY(const std::string url, server_url(options.url));
    LAVANT_TRY(const std::string name, choose_name(context, options, url));
    std::string pinned;
    if (const auto before = load_context(context, name);
        before && before->url == url && !before->ca_file.empty())
        pinned = fingerprint_of_file(before->ca_file, context.crypto);
    LAVANT_TRY(const Trust trust, find_trust(context, options, url, pinned));
    LAVANT_TRY(const std::string key, find_key(context, options, url));
    LAVANT_TRY(const Json status, ask_who_i_am(context, url, trust.ca, key));
    const std::string user = status["user"].string();
    LAVANT_TRY_VOID(store_context(context, {name, url, user, "", key}, trust.ca));
    LAVANT_TRY_VOID(make_current(context, name));
    context.console.out << fmt::format("you are {} ({}) on {}, as context '{}'\n", printable(user),
                                       printable(status["role"].text()), url, name);
    context.console.out.flush();
    const ServerInUse used = server_in_use(context, {});
    if (used.name != name)
        context.console.err << fmt::format("{} is set and wins over it; use --context {}\n", used.by, name);
    return Exit::Completed;
}

}  // namespace lavant::cli
