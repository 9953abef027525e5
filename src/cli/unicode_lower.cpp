#include "cli/unicode_lower.h"

#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <memory>

namespace lavant::cli {
namespace {

char32_t lower_ascii(char32_t c) { return c >= U'A' && c <= U'Z' ? c + 32 : c; }

}  // namespace

std::u32string lower(std::u32string text) {
    if (std::all_of(text.begin(), text.end(), [](char32_t c) { return c < 0x80; })) {
        std::transform(text.begin(), text.end(), text.begin(), lower_ascii);
        return text;
    }
    // glibc carries C.UTF-8 with it. Without it only ASCII is lowered, which orders all but rare folders
    // right.
    const std::unique_ptr<std::remove_pointer_t<::locale_t>, void (*)(::locale_t)> unicode(
        ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr), &::freelocale);
    std::u32string out;
    for (const char32_t c : text) {
        if (c == 0x130) {  // The only letter whose lower case is two code points.
            out += U"i\u0307";
        } else if (unicode) {
            out += static_cast<char32_t>(::towlower_l(static_cast<wint_t>(c), unicode.get()));
        } else {
            out += lower_ascii(c);
        }
    }
    return out;
}

}  // namespace lavant::cli
