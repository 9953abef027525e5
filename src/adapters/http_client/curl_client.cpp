#include "adapters/http_client/curl_client.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/check.h"
#include "base/files.h"
#include "base/text.h"

namespace lavant::adapters {
namespace {

using ports::ClientRequest;
using ports::HttpResponse;

constexpr std::size_t kHeadersMax = 500;

struct ListFree {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using List = std::unique_ptr<curl_slist, ListFree>;

// One request under way: where its bytes come from and where they go.
struct Transfer {
    const ClientRequest& request;
    std::size_t body_bytes_max;
    HttpResponse response{};
    Fd upload{};
    Fd download{};
    bool stopped = false;  // by on_bytes
    bool too_large = false;
    Error file_error{};  // with a message where a file failed

    bool to_file() const { return !request.response_file.empty() && response.status / 100 == 2; }
};

std::size_t take_header(char* bytes, std::size_t size, std::size_t count, void* user) {
    Transfer& transfer = *static_cast<Transfer*>(user);
    const std::string_view line = trim({bytes, size * count});
    if (line.starts_with("HTTP/")) {  // a new head: what came before was 100 Continue or a redirection
        transfer.response = {};
        const std::size_t space = line.find(' ');
        const std::string_view rest = space == std::string_view::npos ? "" : trim(line.substr(space));
        transfer.response.status = static_cast<int>(parse_integer(rest.substr(0, 3)).value_or(0));
        return size * count;
    }
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && transfer.response.headers.size() < kHeadersMax)
        transfer.response.headers.emplace_back(line.substr(0, colon), trim(line.substr(colon + 1)));
    return size * count;
}

bool store(Transfer& transfer, std::string_view bytes) {
    if (!transfer.download) {
        auto opened = open_file(transfer.request.response_file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (!opened) {
            transfer.file_error = std::move(opened).error();
            return false;
        }
        transfer.download = std::move(opened).value();
    }
    auto written = write_all(transfer.download.get(), bytes);
    if (!written)
        transfer.file_error = in("'" + transfer.request.response_file + "'")(std::move(written).error());
    return written.has_value();
}

// A short count tells libcurl to stop.
std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* user) {
    Transfer& transfer = *static_cast<Transfer*>(user);
    const std::string_view part(bytes, size * count);
    if (transfer.request.on_bytes && transfer.response.status / 100 == 2) {
        transfer.stopped = !transfer.request.on_bytes(part);
        return transfer.stopped ? 0 : part.size();
    }
    if (transfer.to_file()) return store(transfer, part) ? part.size() : 0;
    if (transfer.response.body.size() + part.size() > transfer.body_bytes_max) {
        transfer.too_large = true;
        return 0;
    }
    transfer.response.body += part;
    return part.size();
}

std::size_t give_body(char* into, std::size_t size, std::size_t count, void* user) {
    Transfer& transfer = *static_cast<Transfer*>(user);
    while (true) {
        const ssize_t got = ::read(transfer.upload.get(), into, size * count);
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno == EINTR) continue;
        transfer.file_error = system_error("read '" + transfer.request.body_file + "'", errno);
        return CURL_READFUNC_ABORT;
    }
}

// When the server answered on a connection that had gone meanwhile, libcurl sends the body again.
int rewind_body(void* user, curl_off_t offset, int origin) {
    const Transfer& transfer = *static_cast<Transfer*>(user);
    return ::lseek(transfer.upload.get(), offset, origin) < 0 ? CURL_SEEKFUNC_FAIL : CURL_SEEKFUNC_OK;
}

std::string host_of(const std::string& url) {
    const std::size_t start = url.find("://");
    const std::size_t from = start == std::string::npos ? 0 : start + 3;
    return url.substr(from, url.find_first_of("/?", from) - from);
}

Error explain(CURLcode code, const Transfer& transfer, const char* detail, const std::string& ca_file) {
    const std::string host = host_of(transfer.request.url);
    const std::string what =
        "cannot " + transfer.request.method + " " + transfer.request.url.substr(0, 300) + ": ";
    const std::string said = *detail != '\0' ? detail : curl_easy_strerror(code);
    switch (static_cast<int>(code)) {
        case CURLE_COULDNT_RESOLVE_HOST:
            return {
                ErrorCode::Unavailable, what + "the host name '" + host + "' is unknown; check the URL", {}};
        case CURLE_COULDNT_CONNECT:
            return {ErrorCode::Unavailable,
                    what + "nothing answers at " + host +
                        "; check that the server runs and that the URL is right",
                    {}};
        case CURLE_PEER_FAILED_VERIFICATION:
            return {ErrorCode::Unavailable,
                    what + "the server's certificate does not fit (" + said + "); trust its authority (" +
                        (ca_file.empty() ? "give its CA file" : "now '" + ca_file + "'") +
                        ") or use a name that the certificate has",
                    {}};
        case CURLE_SSL_CACERT_BADFILE:
            return {ErrorCode::Unavailable,
                    what + "the CA file '" + ca_file + "' cannot be read; check its path",
                    {}};
        case CURLE_SSL_CONNECT_ERROR:
            return {ErrorCode::Unavailable,
                    what + "the TLS handshake failed (" + said + "); check that this port speaks HTTPS",
                    {}};
        case CURLE_OPERATION_TIMEDOUT:
            return {
                ErrorCode::DeadlineExceeded,
                what +
                    "no answer within the time allowed; try again, or look whether the server is overloaded",
                {}};
        case CURLE_URL_MALFORMAT:
        case CURLE_UNSUPPORTED_PROTOCOL:
            return {ErrorCode::InvalidArgument, what + "this is not an http or https URL", {}};
        case CURLE_GOT_NOTHING:
        case CURLE_RECV_ERROR:
        case CURLE_SEND_ERROR:
        case CURLE_PARTIAL_FILE:
            return {
                ErrorCode::Unavailable,
                what + "the server closed the connection before it had answered (" + said + "); try again",
                {}};
        default:
            return {ErrorCode::Unavailable, what + said, {}};
    }
}

}  // namespace

struct CurlClient::Handle {
    CURL* curl = curl_easy_init();
    std::array<char, CURL_ERROR_SIZE> detail{};

    ~Handle() { curl_easy_cleanup(curl); }

    template <class T>
    void set(CURLoption option, T value) {
        CHECK(curl_easy_setopt(curl, option, value) == CURLE_OK, "this libcurl knows the options we set");
    }
    void set_up(const ClientSettings& settings, const ClientRequest& request);
    Result<List> set_body(Transfer& transfer);
};

void CurlClient::Handle::set_up(const ClientSettings& settings, const ClientRequest& request) {
    curl_easy_reset(curl);  // options only: connections, sessions and names stay
    set(CURLOPT_ERRORBUFFER, detail.data());
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_URL, request.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_USERAGENT, settings.user_agent.c_str());
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(settings.connect_timeout_s));
    set(CURLOPT_TIMEOUT, static_cast<long>(request.timeout_s));
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 256L << 10);  // a wish: refused after a broken transfer
    // Beside what no_proxy in the environment says, nothing on this machine goes through a proxy.
    const char* excluded = std::getenv("no_proxy");
    if (excluded == nullptr) excluded = std::getenv("NO_PROXY");
    const std::string direct =
        std::string("localhost,127.0.0.1,::1") + (excluded ? "," + std::string(excluded) : "");
    set(CURLOPT_NOPROXY, direct.c_str());
    if (!settings.verify) {
        set(CURLOPT_SSL_VERIFYPEER, 0L);
        set(CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (settings.ca_file.empty()) return;
    set(CURLOPT_CAINFO, settings.ca_file.c_str());
    curl_easy_setopt(curl, CURLOPT_CAPATH, nullptr);
}

// Method, headers and body. The list must live until the request is through.
Result<List> CurlClient::Handle::set_body(Transfer& transfer) {
    const ClientRequest& request = transfer.request;
    const bool from_file = !request.body_file.empty();
    if (request.method == "HEAD") {
        set(CURLOPT_NOBODY, 1L);
    } else if (from_file) {
        LAVANT_TRY(transfer.upload, open_file(request.body_file, O_RDONLY));
        struct stat found {};
        if (::fstat(transfer.upload.get(), &found) != 0 || !S_ISREG(found.st_mode))
            return fail(ErrorCode::InvalidArgument,
                        "cannot send '" + request.body_file + "': it is not a file");
        set(CURLOPT_UPLOAD, 1L);
        set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(found.st_size));
        set(CURLOPT_READFUNCTION, &give_body);
        set(CURLOPT_READDATA, &transfer);
        set(CURLOPT_SEEKFUNCTION, &rewind_body);
        set(CURLOPT_SEEKDATA, &transfer);
    } else if (!request.body.empty() || request.method == "POST" || request.method == "PUT" ||
               request.method == "PATCH") {
        set(CURLOPT_POST, 1L);
        set(CURLOPT_POSTFIELDS, request.body.c_str());
        set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    }
    if (request.method != "HEAD") set(CURLOPT_CUSTOMREQUEST, request.method.c_str());

    curl_slist* list = nullptr;
    bool has_type = false;
    for (const auto& [name, value] : request.headers) {
        has_type = has_type || equals_ignoring_case(name, "content-type");
        // "Name;" is libcurl's spelling of a header without a value.
        list = curl_slist_append(list, (value.empty() ? name + ";" : name + ": " + value).c_str());
    }
    if (!has_type) list = curl_slist_append(list, "Content-Type:");
    if (!from_file) list = curl_slist_append(list, "Expect:");
    set(CURLOPT_HTTPHEADER, list);
    return List(list);
}

CurlClient::CurlClient(ClientSettings settings)
    : settings_(std::move(settings)), handle_(std::make_unique<Handle>()) {
    CHECK(handle_->curl != nullptr, "a libcurl handle needs only memory");
}
CurlClient::~CurlClient() = default;

Result<HttpResponse> CurlClient::send(const ClientRequest& request) {
    for (const auto& [name, value] : request.headers) {
        if (!settings_.verify && equals_ignoring_case(name, "authorization"))
            return fail(ErrorCode::InvalidArgument,
                        "no credentials go over a connection that proves nothing");
    }
    Transfer transfer{request, settings_.body_bytes_max};
    handle_->set_up(settings_, request);
    handle_->set(CURLOPT_HEADERFUNCTION, &take_header);
    handle_->set(CURLOPT_HEADERDATA, &transfer);
    handle_->set(CURLOPT_WRITEFUNCTION, &take_body);
    handle_->set(CURLOPT_WRITEDATA, &transfer);
    LAVANT_TRY(const List headers, handle_->set_body(transfer));
    handle_->detail[0] = '\0';
    const CURLcode code = curl_easy_perform(handle_->curl);
    if (!transfer.file_error.message.empty()) return fail(std::move(transfer.file_error));
    if (transfer.too_large)
        return fail(ErrorCode::ResourceExhausted, "the answer to " + request.method + " " +
                                                      request.url.substr(0, 300) + " is larger than " +
                                                      std::to_string(settings_.body_bytes_max) +
                                                      " bytes; download it to a file");
    if (code != CURLE_OK && !transfer.stopped)
        return fail(explain(code, transfer, handle_->detail.data(), settings_.ca_file));
    if (transfer.to_file() && !transfer.download &&
        !store(transfer, {}))  // an empty body makes an empty file
        return fail(std::move(transfer.file_error));
    return std::move(transfer.response);
}

}  // namespace lavant::adapters
