// The sizes of Azure that its machine learning users meet, with their figures. One line for each; prices are
// those of East US for Linux, paid as one goes.

#include <algorithm>
#include <cmath>

#include "core/model/size.h"

namespace lavant {
namespace {

struct Row {
    const char* name;
    const char* family;
    int vcpus;
    double memory_gib;
    int gpus;
    int disk_gib;
    double dollars;  // an hour
    const char* successor = "";
};

// clang-format off
constexpr Row kRows[] = {
    // General purpose.
    {"Standard_DS1_v2", "standardDSv2Family", 1, 3.5, 0, 7, 0.073},
    {"Standard_DS2_v2", "standardDSv2Family", 2, 7, 0, 14, 0.146},
    {"Standard_DS3_v2", "standardDSv2Family", 4, 14, 0, 28, 0.293},
    {"Standard_DS4_v2", "standardDSv2Family", 8, 28, 0, 56, 0.585},
    {"Standard_DS5_v2", "standardDSv2Family", 16, 56, 0, 112, 1.17},
    {"Standard_DS11_v2", "standardDSv2Family", 2, 14, 0, 28, 0.185},
    {"Standard_DS12_v2", "standardDSv2Family", 4, 28, 0, 56, 0.371},
    {"Standard_DS13_v2", "standardDSv2Family", 8, 56, 0, 112, 0.741},
    {"Standard_DS14_v2", "standardDSv2Family", 16, 112, 0, 224, 1.482},
    {"Standard_DS15_v2", "standardDSv2Family", 20, 140, 0, 280, 1.853},
    {"Standard_D1_v2", "standardDv2Family", 1, 3.5, 0, 50, 0.073},
    {"Standard_D2_v2", "standardDv2Family", 2, 7, 0, 100, 0.146},
    {"Standard_D3_v2", "standardDv2Family", 4, 14, 0, 200, 0.293},
    {"Standard_D4_v2", "standardDv2Family", 8, 28, 0, 400, 0.585},
    {"Standard_D5_v2", "standardDv2Family", 16, 56, 0, 800, 1.17},
    {"Standard_D11_v2", "standardDv2Family", 2, 14, 0, 100, 0.185},
    {"Standard_D12_v2", "standardDv2Family", 4, 28, 0, 200, 0.371},
    {"Standard_D13_v2", "standardDv2Family", 8, 56, 0, 400, 0.741},
    {"Standard_D14_v2", "standardDv2Family", 16, 112, 0, 800, 1.482},
    {"Standard_D15_v2", "standardDv2Family", 20, 140, 0, 1000, 1.853},
    {"Standard_D1", "standardDFamily", 1, 3.5, 0, 50, 0.077},
    {"Standard_D2", "standardDFamily", 2, 7, 0, 100, 0.154},
    {"Standard_D3", "standardDFamily", 4, 14, 0, 200, 0.308},
    {"Standard_D4", "standardDFamily", 8, 28, 0, 400, 0.616},
    {"Standard_D11", "standardDFamily", 2, 14, 0, 100, 0.193},
    {"Standard_D12", "standardDFamily", 4, 28, 0, 200, 0.386},
    {"Standard_D13", "standardDFamily", 8, 56, 0, 400, 0.771},
    {"Standard_D14", "standardDFamily", 16, 112, 0, 800, 1.542},
    {"Standard_D2_v3", "standardDv3Family", 2, 8, 0, 50, 0.096},
    {"Standard_D4_v3", "standardDv3Family", 4, 16, 0, 100, 0.192},
    {"Standard_D8_v3", "standardDv3Family", 8, 32, 0, 200, 0.384},
    {"Standard_D16_v3", "standardDv3Family", 16, 64, 0, 400, 0.768},
    {"Standard_D32_v3", "standardDv3Family", 32, 128, 0, 800, 1.536},
    {"Standard_D48_v3", "standardDv3Family", 48, 192, 0, 1200, 2.304},
    {"Standard_D64_v3", "standardDv3Family", 64, 256, 0, 1600, 3.072},
    {"Standard_D2s_v3", "standardDSv3Family", 2, 8, 0, 16, 0.096},
    {"Standard_D4s_v3", "standardDSv3Family", 4, 16, 0, 32, 0.192},
    {"Standard_D8s_v3", "standardDSv3Family", 8, 32, 0, 64, 0.384},
    {"Standard_D16s_v3", "standardDSv3Family", 16, 64, 0, 128, 0.768},
    {"Standard_D32s_v3", "standardDSv3Family", 32, 128, 0, 256, 1.536},
    {"Standard_D48s_v3", "standardDSv3Family", 48, 192, 0, 384, 2.304},
    {"Standard_D64s_v3", "standardDSv3Family", 64, 256, 0, 512, 3.072},
    {"Standard_D2d_v4", "standardDDv4Family", 2, 8, 0, 75, 0.113},
    {"Standard_D4d_v4", "standardDDv4Family", 4, 16, 0, 150, 0.226},
    {"Standard_D8d_v4", "standardDDv4Family", 8, 32, 0, 300, 0.452},
    {"Standard_D16d_v4", "standardDDv4Family", 16, 64, 0, 600, 0.904},
    {"Standard_D32d_v4", "standardDDv4Family", 32, 128, 0, 1200, 1.808},
    {"Standard_D48d_v4", "standardDDv4Family", 48, 192, 0, 1800, 2.712},
    {"Standard_D64d_v4", "standardDDv4Family", 64, 256, 0, 2400, 3.616},
    {"Standard_D2ds_v4", "standardDDSv4Family", 2, 8, 0, 75, 0.113},
    {"Standard_D4ds_v4", "standardDDSv4Family", 4, 16, 0, 150, 0.226},
    {"Standard_D8ds_v4", "standardDDSv4Family", 8, 32, 0, 300, 0.452},
    {"Standard_D16ds_v4", "standardDDSv4Family", 16, 64, 0, 600, 0.904},
    {"Standard_D32ds_v4", "standardDDSv4Family", 32, 128, 0, 1200, 1.808},
    {"Standard_D48ds_v4", "standardDDSv4Family", 48, 192, 0, 1800, 2.712},
    {"Standard_D64ds_v4", "standardDDSv4Family", 64, 256, 0, 2400, 3.616},
    {"Standard_D2as_v4", "standardDASv4Family", 2, 8, 0, 16, 0.096},
    {"Standard_D4as_v4", "standardDASv4Family", 4, 16, 0, 32, 0.192},
    {"Standard_D8as_v4", "standardDASv4Family", 8, 32, 0, 64, 0.384},
    {"Standard_D16as_v4", "standardDASv4Family", 16, 64, 0, 128, 0.768},
    {"Standard_D32as_v4", "standardDASv4Family", 32, 128, 0, 256, 1.536},
    {"Standard_D48as_v4", "standardDASv4Family", 48, 192, 0, 384, 2.304},
    {"Standard_D64as_v4", "standardDASv4Family", 64, 256, 0, 512, 3.072},
    {"Standard_D96as_v4", "standardDASv4Family", 96, 384, 0, 768, 4.608},
    {"Standard_D2s_v5", "standardDSv5Family", 2, 8, 0, 0, 0.096},
    {"Standard_D4s_v5", "standardDSv5Family", 4, 16, 0, 0, 0.192},
    {"Standard_D8s_v5", "standardDSv5Family", 8, 32, 0, 0, 0.384},
    {"Standard_D16s_v5", "standardDSv5Family", 16, 64, 0, 0, 0.768},
    {"Standard_D32s_v5", "standardDSv5Family", 32, 128, 0, 0, 1.536},
    {"Standard_D48s_v5", "standardDSv5Family", 48, 192, 0, 0, 2.304},
    {"Standard_D64s_v5", "standardDSv5Family", 64, 256, 0, 0, 3.072},
    {"Standard_D96s_v5", "standardDSv5Family", 96, 384, 0, 0, 4.608},
    {"Standard_D2ds_v5", "standardDDSv5Family", 2, 8, 0, 75, 0.113},
    {"Standard_D4ds_v5", "standardDDSv5Family", 4, 16, 0, 150, 0.226},
    {"Standard_D8ds_v5", "standardDDSv5Family", 8, 32, 0, 300, 0.452},
    {"Standard_D16ds_v5", "standardDDSv5Family", 16, 64, 0, 600, 0.904},
    {"Standard_D32ds_v5", "standardDDSv5Family", 32, 128, 0, 1200, 1.808},
    {"Standard_D48ds_v5", "standardDDSv5Family", 48, 192, 0, 1800, 2.712},
    {"Standard_D64ds_v5", "standardDDSv5Family", 64, 256, 0, 2400, 3.616},
    {"Standard_D96ds_v5", "standardDDSv5Family", 96, 384, 0, 3600, 5.424},
    {"Standard_D2ads_v5", "standardDADSv5Family", 2, 8, 0, 75, 0.103},
    {"Standard_D4ads_v5", "standardDADSv5Family", 4, 16, 0, 150, 0.206},
    {"Standard_D8ads_v5", "standardDADSv5Family", 8, 32, 0, 300, 0.412},
    {"Standard_D16ads_v5", "standardDADSv5Family", 16, 64, 0, 600, 0.824},
    {"Standard_D32ads_v5", "standardDADSv5Family", 32, 128, 0, 1200, 1.648},
    {"Standard_D48ads_v5", "standardDADSv5Family", 48, 192, 0, 1800, 2.472},
    {"Standard_D64ads_v5", "standardDADSv5Family", 64, 256, 0, 2400, 3.296},
    {"Standard_D96ads_v5", "standardDADSv5Family", 96, 384, 0, 3600, 4.944},
    {"Standard_A1_v2", "standardAv2Family", 1, 2, 0, 10, 0.043},
    {"Standard_A2_v2", "standardAv2Family", 2, 4, 0, 20, 0.091},
    {"Standard_A4_v2", "standardAv2Family", 4, 8, 0, 40, 0.191},
    {"Standard_A8_v2", "standardAv2Family", 8, 16, 0, 80, 0.4},
    {"Standard_A2m_v2", "standardAv2Family", 2, 16, 0, 20, 0.119},
    {"Standard_A4m_v2", "standardAv2Family", 4, 32, 0, 40, 0.238},
    {"Standard_A8m_v2", "standardAv2Family", 8, 64, 0, 80, 0.475},
    {"Standard_A0", "standardA0_A7Family", 1, 0.75, 0, 20, 0.02, "Standard_A1_v2"},
    {"Standard_A1", "standardA0_A7Family", 1, 1.75, 0, 70, 0.06, "Standard_A1_v2"},
    {"Standard_A2", "standardA0_A7Family", 2, 3.5, 0, 135, 0.12, "Standard_A2_v2"},
    {"Standard_A3", "standardA0_A7Family", 4, 7, 0, 285, 0.24, "Standard_A4_v2"},
    {"Standard_A4", "standardA0_A7Family", 8, 14, 0, 605, 0.48, "Standard_A8_v2"},
    {"Standard_A5", "standardA0_A7Family", 2, 14, 0, 135, 0.25, "Standard_A2m_v2"},
    {"Standard_A6", "standardA0_A7Family", 4, 28, 0, 285, 0.5, "Standard_A4m_v2"},
    {"Standard_A7", "standardA0_A7Family", 8, 56, 0, 605, 1, "Standard_A8m_v2"},
    // Memory optimised.
    {"Standard_E2_v3", "standardEv3Family", 2, 16, 0, 50, 0.126},
    {"Standard_E4_v3", "standardEv3Family", 4, 32, 0, 100, 0.252},
    {"Standard_E8_v3", "standardEv3Family", 8, 64, 0, 200, 0.504},
    {"Standard_E16_v3", "standardEv3Family", 16, 128, 0, 400, 1.008},
    {"Standard_E20_v3", "standardEv3Family", 20, 160, 0, 500, 1.26},
    {"Standard_E32_v3", "standardEv3Family", 32, 256, 0, 800, 2.016},
    {"Standard_E48_v3", "standardEv3Family", 48, 384, 0, 1200, 3.024},
    {"Standard_E64_v3", "standardEv3Family", 64, 432, 0, 1600, 3.629},
    {"Standard_E2s_v3", "standardESv3Family", 2, 16, 0, 32, 0.126},
    {"Standard_E4s_v3", "standardESv3Family", 4, 32, 0, 64, 0.252},
    {"Standard_E8s_v3", "standardESv3Family", 8, 64, 0, 128, 0.504},
    {"Standard_E16s_v3", "standardESv3Family", 16, 128, 0, 256, 1.008},
    {"Standard_E20s_v3", "standardESv3Family", 20, 160, 0, 320, 1.26},
    {"Standard_E32s_v3", "standardESv3Family", 32, 256, 0, 512, 2.016},
    {"Standard_E48s_v3", "standardESv3Family", 48, 384, 0, 768, 3.024},
    {"Standard_E64s_v3", "standardESv3Family", 64, 432, 0, 864, 3.629},
    {"Standard_E2ds_v4", "standardEDSv4Family", 2, 16, 0, 75, 0.144},
    {"Standard_E4ds_v4", "standardEDSv4Family", 4, 32, 0, 150, 0.288},
    {"Standard_E8ds_v4", "standardEDSv4Family", 8, 64, 0, 300, 0.576},
    {"Standard_E16ds_v4", "standardEDSv4Family", 16, 128, 0, 600, 1.152},
    {"Standard_E20ds_v4", "standardEDSv4Family", 20, 160, 0, 750, 1.44},
    {"Standard_E32ds_v4", "standardEDSv4Family", 32, 256, 0, 1200, 2.304},
    {"Standard_E48ds_v4", "standardEDSv4Family", 48, 384, 0, 1800, 3.456},
    {"Standard_E64ds_v4", "standardEDSv4Family", 64, 504, 0, 2400, 4.608},
    {"Standard_E2as_v4", "standardEASv4Family", 2, 16, 0, 32, 0.126},
    {"Standard_E4as_v4", "standardEASv4Family", 4, 32, 0, 64, 0.252},
    {"Standard_E8as_v4", "standardEASv4Family", 8, 64, 0, 128, 0.504},
    {"Standard_E16as_v4", "standardEASv4Family", 16, 128, 0, 256, 1.008},
    {"Standard_E20as_v4", "standardEASv4Family", 20, 160, 0, 320, 1.26},
    {"Standard_E32as_v4", "standardEASv4Family", 32, 256, 0, 512, 2.016},
    {"Standard_E48as_v4", "standardEASv4Family", 48, 384, 0, 768, 3.024},
    {"Standard_E64as_v4", "standardEASv4Family", 64, 512, 0, 1024, 4.032},
    {"Standard_E96as_v4", "standardEASv4Family", 96, 672, 0, 1344, 6.048},
    {"Standard_E2s_v5", "standardESv5Family", 2, 16, 0, 0, 0.126},
    {"Standard_E4s_v5", "standardESv5Family", 4, 32, 0, 0, 0.252},
    {"Standard_E8s_v5", "standardESv5Family", 8, 64, 0, 0, 0.504},
    {"Standard_E16s_v5", "standardESv5Family", 16, 128, 0, 0, 1.008},
    {"Standard_E20s_v5", "standardESv5Family", 20, 160, 0, 0, 1.26},
    {"Standard_E32s_v5", "standardESv5Family", 32, 256, 0, 0, 2.016},
    {"Standard_E48s_v5", "standardESv5Family", 48, 384, 0, 0, 3.024},
    {"Standard_E64s_v5", "standardESv5Family", 64, 512, 0, 0, 4.032},
    {"Standard_E96s_v5", "standardESv5Family", 96, 672, 0, 0, 6.048},
    {"Standard_E2ds_v5", "standardEDSv5Family", 2, 16, 0, 75, 0.144},
    {"Standard_E4ds_v5", "standardEDSv5Family", 4, 32, 0, 150, 0.288},
    {"Standard_E8ds_v5", "standardEDSv5Family", 8, 64, 0, 300, 0.576},
    {"Standard_E16ds_v5", "standardEDSv5Family", 16, 128, 0, 600, 1.152},
    {"Standard_E20ds_v5", "standardEDSv5Family", 20, 160, 0, 750, 1.44},
    {"Standard_E32ds_v5", "standardEDSv5Family", 32, 256, 0, 1200, 2.304},
    {"Standard_E48ds_v5", "standardEDSv5Family", 48, 384, 0, 1800, 3.456},
    {"Standard_E64ds_v5", "standardEDSv5Family", 64, 512, 0, 2400, 4.608},
    {"Standard_E96ds_v5", "standardEDSv5Family", 96, 672, 0, 3600, 6.912},
    {"Standard_M8ms", "standardMSFamily", 8, 218.75, 0, 256, 1.5365},
    {"Standard_M16ms", "standardMSFamily", 16, 437.5, 0, 512, 3.073},
    {"Standard_M32ts", "standardMSFamily", 32, 192, 0, 1024, 2.707},
    {"Standard_M32ls", "standardMSFamily", 32, 256, 0, 1024, 2.873},
    {"Standard_M32ms", "standardMSFamily", 32, 875, 0, 1024, 6.146},
    {"Standard_M64", "standardMSFamily", 64, 1024, 0, 7168, 6.669},
    {"Standard_M64s", "standardMSFamily", 64, 1024, 0, 2048, 6.669},
    {"Standard_M64ls", "standardMSFamily", 64, 512, 0, 2048, 5.415},
    {"Standard_M64ms", "standardMSFamily", 64, 1792, 0, 2048, 10.337},
    {"Standard_M128", "standardMSFamily", 128, 2048, 0, 14336, 13.338},
    {"Standard_M128s", "standardMSFamily", 128, 2048, 0, 4096, 13.338},
    {"Standard_M128ms", "standardMSFamily", 128, 3892, 0, 4096, 26.688},
    // Compute optimised.
    {"Standard_F1", "standardFFamily", 1, 2, 0, 16, 0.0497},
    {"Standard_F2", "standardFFamily", 2, 4, 0, 32, 0.099},
    {"Standard_F4", "standardFFamily", 4, 8, 0, 64, 0.199},
    {"Standard_F8", "standardFFamily", 8, 16, 0, 128, 0.398},
    {"Standard_F16", "standardFFamily", 16, 32, 0, 256, 0.796},
    {"Standard_F1s", "standardFSFamily", 1, 2, 0, 4, 0.0497},
    {"Standard_F2s", "standardFSFamily", 2, 4, 0, 8, 0.099},
    {"Standard_F4s", "standardFSFamily", 4, 8, 0, 16, 0.199},
    {"Standard_F8s", "standardFSFamily", 8, 16, 0, 32, 0.398},
    {"Standard_F16s", "standardFSFamily", 16, 32, 0, 64, 0.796},
    {"Standard_F2s_v2", "standardFSv2Family", 2, 4, 0, 16, 0.0846},
    {"Standard_F4s_v2", "standardFSv2Family", 4, 8, 0, 32, 0.169},
    {"Standard_F8s_v2", "standardFSv2Family", 8, 16, 0, 64, 0.338},
    {"Standard_F16s_v2", "standardFSv2Family", 16, 32, 0, 128, 0.677},
    {"Standard_F32s_v2", "standardFSv2Family", 32, 64, 0, 256, 1.353},
    {"Standard_F48s_v2", "standardFSv2Family", 48, 96, 0, 384, 2.03},
    {"Standard_F64s_v2", "standardFSv2Family", 64, 128, 0, 512, 2.706},
    {"Standard_F72s_v2", "standardFSv2Family", 72, 144, 0, 576, 3.045},
    // Storage optimised.
    {"Standard_L8s_v2", "standardLSv2Family", 8, 64, 0, 80, 0.624},
    {"Standard_L16s_v2", "standardLSv2Family", 16, 128, 0, 160, 1.248},
    {"Standard_L32s_v2", "standardLSv2Family", 32, 256, 0, 320, 2.496},
    {"Standard_L48s_v2", "standardLSv2Family", 48, 384, 0, 480, 3.744},
    {"Standard_L64s_v2", "standardLSv2Family", 64, 512, 0, 640, 4.992},
    {"Standard_L80s_v2", "standardLSv2Family", 80, 640, 0, 800, 6.24},
    {"Standard_L8s_v3", "standardLSv3Family", 8, 64, 0, 80, 0.696},
    {"Standard_L16s_v3", "standardLSv3Family", 16, 128, 0, 160, 1.392},
    {"Standard_L32s_v3", "standardLSv3Family", 32, 256, 0, 320, 2.784},
    {"Standard_L48s_v3", "standardLSv3Family", 48, 384, 0, 480, 4.176},
    {"Standard_L64s_v3", "standardLSv3Family", 64, 512, 0, 640, 5.568},
    {"Standard_L80s_v3", "standardLSv3Family", 80, 640, 0, 800, 6.96},
    // High performance computing.
    {"Standard_H8", "standardHFamily", 8, 56, 0, 1000, 0.796},
    {"Standard_H8m", "standardHFamily", 8, 112, 0, 1000, 1.066},
    {"Standard_H16", "standardHFamily", 16, 112, 0, 2000, 1.591},
    {"Standard_H16r", "standardHFamily", 16, 112, 0, 2000, 1.75},
    {"Standard_H16m", "standardHFamily", 16, 224, 0, 2000, 2.136},
    {"Standard_H16mr", "standardHFamily", 16, 224, 0, 2000, 2.349},
    {"Standard_HC44rs", "standardHCSFamily", 44, 352, 0, 700, 3.168},
    {"Standard_HC44-32rs", "standardHCSFamily", 32, 352, 0, 700, 3.168},
    {"Standard_HC44-16rs", "standardHCSFamily", 16, 352, 0, 700, 3.168},
    {"Standard_HB60rs", "standardHBSFamily", 60, 228, 0, 700, 2.28, "Standard_HB120-64rs_v3"},
    {"Standard_HB60-45rs", "standardHBSFamily", 45, 228, 0, 700, 2.28, "Standard_HB120-64rs_v3"},
    {"Standard_HB60-30rs", "standardHBSFamily", 30, 228, 0, 700, 2.28, "Standard_HB120-32rs_v3"},
    {"Standard_HB60-15rs", "standardHBSFamily", 15, 228, 0, 700, 2.28, "Standard_HB120-16rs_v3"},
    {"Standard_HB120rs_v2", "standardHBrsv2Family", 120, 456, 0, 480, 3.6},
    {"Standard_HB120-96rs_v2", "standardHBrsv2Family", 96, 456, 0, 480, 3.6},
    {"Standard_HB120-64rs_v2", "standardHBrsv2Family", 64, 456, 0, 480, 3.6},
    {"Standard_HB120-32rs_v2", "standardHBrsv2Family", 32, 456, 0, 480, 3.6},
    {"Standard_HB120-16rs_v2", "standardHBrsv2Family", 16, 456, 0, 480, 3.6},
    {"Standard_HB120rs_v3", "standardHBv3Family", 120, 448, 0, 480, 3.6},
    {"Standard_HB120-96rs_v3", "standardHBv3Family", 96, 448, 0, 480, 3.6},
    {"Standard_HB120-64rs_v3", "standardHBv3Family", 64, 448, 0, 480, 3.6},
    {"Standard_HB120-32rs_v3", "standardHBv3Family", 32, 448, 0, 480, 3.6},
    {"Standard_HB120-16rs_v3", "standardHBv3Family", 16, 448, 0, 480, 3.6},
    {"Standard_HB176rs_v4", "standardHBv4Family", 176, 768, 0, 480, 7.2},
    {"Standard_HB176-144rs_v4", "standardHBv4Family", 144, 768, 0, 480, 7.2},
    {"Standard_HB176-96rs_v4", "standardHBv4Family", 96, 768, 0, 480, 7.2},
    {"Standard_HB176-48rs_v4", "standardHBv4Family", 48, 768, 0, 480, 7.2},
    {"Standard_HB176-24rs_v4", "standardHBv4Family", 24, 768, 0, 480, 7.2},
    // GPUs for computing.
    {"Standard_NC6", "standardNCFamily", 6, 56, 1, 340, 0.9, "Standard_NC6s_v3"},
    {"Standard_NC12", "standardNCFamily", 12, 112, 2, 680, 1.8, "Standard_NC12s_v3"},
    {"Standard_NC24", "standardNCFamily", 24, 224, 4, 1440, 3.6, "Standard_NC24s_v3"},
    {"Standard_NC24r", "standardNCFamily", 24, 224, 4, 1440, 3.96, "Standard_NC24rs_v3"},
    {"Standard_NC6_Promo", "standardNCPromoFamily", 6, 56, 1, 340, 0.396, "Standard_NC6s_v3"},
    {"Standard_NC12_Promo", "standardNCPromoFamily", 12, 112, 2, 680, 0.792, "Standard_NC12s_v3"},
    {"Standard_NC24_Promo", "standardNCPromoFamily", 24, 224, 4, 1440, 1.584, "Standard_NC24s_v3"},
    {"Standard_NC24r_Promo", "standardNCPromoFamily", 24, 224, 4, 1440, 1.742, "Standard_NC24rs_v3"},
    {"Standard_NC6s_v2", "standardNCSv2Family", 6, 112, 1, 736, 2.07, "Standard_NC6s_v3"},
    {"Standard_NC12s_v2", "standardNCSv2Family", 12, 224, 2, 1474, 4.14, "Standard_NC12s_v3"},
    {"Standard_NC24s_v2", "standardNCSv2Family", 24, 448, 4, 2948, 8.28, "Standard_NC24s_v3"},
    {"Standard_NC24rs_v2", "standardNCSv2Family", 24, 448, 4, 2948, 9.108, "Standard_NC24rs_v3"},
    {"Standard_NC6s_v3", "standardNCSv3Family", 6, 112, 1, 736, 3.06},
    {"Standard_NC12s_v3", "standardNCSv3Family", 12, 224, 2, 1474, 6.12},
    {"Standard_NC24s_v3", "standardNCSv3Family", 24, 448, 4, 2948, 12.24},
    {"Standard_NC24rs_v3", "standardNCSv3Family", 24, 448, 4, 2948, 13.464},
    {"Standard_NC4as_T4_v3", "standardNCASv3_T4Family", 4, 28, 1, 180, 0.526},
    {"Standard_NC8as_T4_v3", "standardNCASv3_T4Family", 8, 56, 1, 360, 0.752},
    {"Standard_NC16as_T4_v3", "standardNCASv3_T4Family", 16, 110, 1, 360, 1.204},
    {"Standard_NC64as_T4_v3", "standardNCASv3_T4Family", 64, 440, 4, 2880, 4.352},
    {"Standard_NC24ads_A100_v4", "standardNCADSA100v4Family", 24, 220, 1, 64, 3.673},
    {"Standard_NC48ads_A100_v4", "standardNCADSA100v4Family", 48, 440, 2, 128, 7.346},
    {"Standard_NC96ads_A100_v4", "standardNCADSA100v4Family", 96, 880, 4, 256, 14.692},
    {"Standard_NC40ads_H100_v5", "standardNCadsH100v5Family", 40, 320, 1, 128, 6.98},
    {"Standard_NC80adis_H100_v5", "standardNCadsH100v5Family", 80, 640, 2, 256, 13.96},
    {"Standard_ND6s", "standardNDSFamily", 6, 112, 1, 736, 2.07, "Standard_NC6s_v3"},
    {"Standard_ND12s", "standardNDSFamily", 12, 224, 2, 1474, 4.14, "Standard_NC12s_v3"},
    {"Standard_ND24s", "standardNDSFamily", 24, 448, 4, 2948, 8.28, "Standard_NC24s_v3"},
    {"Standard_ND24rs", "standardNDSFamily", 24, 448, 4, 2948, 9.108, "Standard_NC24rs_v3"},
    {"Standard_ND40rs_v2", "standardNDSv2Family", 40, 672, 8, 2948, 22.032},
    {"Standard_ND96asr_v4", "standardNDASv4_A100Family", 96, 900, 8, 6000, 27.197},
    {"Standard_ND96amsr_A100_v4", "standardNDAMSv4_A100Family", 96, 1900, 8, 6400, 32.77},
    {"Standard_ND96isr_H100_v5", "standardNDSH100v5Family", 96, 1900, 8, 1000, 98.32},
    // GPUs for pictures. Where Azure gives a part of one, one is counted, as Azure does.
    {"Standard_NV6", "standardNVFamily", 6, 56, 1, 340, 1.14, "Standard_NV12s_v3"},
    {"Standard_NV12", "standardNVFamily", 12, 112, 2, 680, 2.28, "Standard_NV24s_v3"},
    {"Standard_NV24", "standardNVFamily", 24, 224, 4, 1440, 4.56, "Standard_NV48s_v3"},
    {"Standard_NV6_Promo", "standardNVPromoFamily", 6, 56, 1, 340, 0.684, "Standard_NV12s_v3"},
    {"Standard_NV12_Promo", "standardNVPromoFamily", 12, 112, 2, 680, 1.368, "Standard_NV24s_v3"},
    {"Standard_NV24_Promo", "standardNVPromoFamily", 24, 224, 4, 1440, 2.736, "Standard_NV48s_v3"},
    {"Standard_NV12s_v3", "standardNVSv3Family", 12, 112, 1, 320, 1.14},
    {"Standard_NV24s_v3", "standardNVSv3Family", 24, 224, 2, 640, 2.28},
    {"Standard_NV48s_v3", "standardNVSv3Family", 48, 448, 4, 1280, 4.56},
    {"Standard_NV4as_v4", "standardNVSv4Family", 4, 14, 1, 88, 0.233},
    {"Standard_NV8as_v4", "standardNVSv4Family", 8, 28, 1, 176, 0.466},
    {"Standard_NV16as_v4", "standardNVSv4Family", 16, 56, 1, 352, 0.932},
    {"Standard_NV32as_v4", "standardNVSv4Family", 32, 112, 1, 704, 1.864},
    {"Standard_NV6ads_A10_v5", "standardNVADSA10v5Family", 6, 55, 1, 180, 0.454},
    {"Standard_NV12ads_A10_v5", "standardNVADSA10v5Family", 12, 110, 1, 360, 0.908},
    {"Standard_NV18ads_A10_v5", "standardNVADSA10v5Family", 18, 220, 1, 720, 1.6},
    {"Standard_NV36ads_A10_v5", "standardNVADSA10v5Family", 36, 440, 1, 1440, 3.2},
    {"Standard_NV36adms_A10_v5", "standardNVADSA10v5Family", 36, 880, 1, 2880, 4.52},
    {"Standard_NV72ads_A10_v5", "standardNVADSA10v5Family", 72, 880, 2, 2880, 6.52},
};

constexpr std::string_view kV100Regions =
    "eastus eastus2 centralus southcentralus westus westus2 westus3 canadacentral brazilsouth northeurope "
    "westeurope uksouth francecentral switzerlandnorth uaenorth centralindia southeastasia japaneast "
    "koreacentral australiaeast";
constexpr std::string_view kT4Regions =
    "eastus eastus2 centralus northcentralus southcentralus westus westus2 westus3 canadacentral brazilsouth "
    "northeurope westeurope uksouth francecentral germanywestcentral switzerlandnorth norwayeast "
    "swedencentral uaenorth qatarcentral southafricanorth centralindia eastasia southeastasia japaneast "
    "koreacentral australiaeast";
constexpr std::string_view kA100Regions =
    "eastus eastus2 centralus southcentralus westus westus2 westus3 canadacentral brazilsouth northeurope "
    "westeurope uksouth francecentral germanywestcentral switzerlandnorth swedencentral polandcentral "
    "italynorth uaenorth centralindia southeastasia japaneast koreacentral australiaeast";
constexpr std::string_view kH100Regions =
    "eastus eastus2 southcentralus westus westus2 westus3 canadacentral westeurope uksouth francecentral "
    "germanywestcentral swedencentral switzerlandnorth japaneast koreacentral australiaeast";
constexpr std::string_view kClusterRegions =
    "eastus eastus2 southcentralus westus2 westus3 westeurope uksouth francecentral swedencentral "
    "centralindia southeastasia japaneast australiaeast";
constexpr std::string_view kPictureRegions =
    "eastus eastus2 northcentralus southcentralus westus westus2 westus3 canadacentral northeurope westeurope "
    "uksouth francecentral germanywestcentral switzerlandnorth uaenorth southafricanorth centralindia eastasia "
    "southeastasia japaneast koreacentral australiaeast";
constexpr std::string_view kHpcRegions =
    "eastus northcentralus southcentralus westus2 westus3 northeurope westeurope uksouth francecentral "
    "germanywestcentral swedencentral southafricanorth uaenorth centralindia eastasia southeastasia japaneast "
    "koreacentral australiaeast";
constexpr std::string_view kFirstGpuRegions =
    "eastus eastus2 northcentralus southcentralus westus2 northeurope westeurope uksouth southeastasia";
constexpr std::string_view kEverywhere = "";

// Families that are not to be had everywhere, or no longer.
struct Family {
    std::string_view name;
    std::string_view regions;
    const char* retired_on = "";
};
constexpr Family kFamilies[] = {
    {"standardA0_A7Family", kEverywhere, "2024-08-31"},
    {"standardHFamily", kHpcRegions},
    {"standardHCSFamily", kHpcRegions},
    {"standardHBSFamily", kHpcRegions, "2024-08-31"},
    {"standardHBrsv2Family", kHpcRegions},
    {"standardHBv3Family", kHpcRegions},
    {"standardHBv4Family", kHpcRegions},
    {"standardNCFamily", kFirstGpuRegions, "2023-08-31"},
    {"standardNCPromoFamily", kFirstGpuRegions, "2023-08-31"},
    {"standardNCSv2Family", kFirstGpuRegions, "2023-08-31"},
    {"standardNCSv3Family", kV100Regions},
    {"standardNCASv3_T4Family", kT4Regions},
    {"standardNCADSA100v4Family", kA100Regions},
    {"standardNCadsH100v5Family", kH100Regions},
    {"standardNDSFamily", kFirstGpuRegions, "2023-08-31"},
    {"standardNDSv2Family", "eastus southcentralus westus2 westeurope"},
    {"standardNDASv4_A100Family", kClusterRegions},
    {"standardNDAMSv4_A100Family", kClusterRegions},
    {"standardNDSH100v5Family", kClusterRegions},
    {"standardNVFamily", kFirstGpuRegions, "2023-08-31"},
    {"standardNVPromoFamily", kFirstGpuRegions, "2023-08-31"},
    {"standardNVSv3Family", kPictureRegions},
    {"standardNVSv4Family", kPictureRegions},
    {"standardNVADSA10v5Family", kPictureRegions},
};
// clang-format on

Size to_size(const Row& row) {
    constexpr double kMicros = 1e6;
    constexpr double kGib = 1LL << 30;
    Size size{.name = row.name,
              .family = row.family,
              .resources = {.cpu_millis = row.vcpus * 1000LL,
                            .memory_bytes = std::llround(row.memory_gib * kGib),
                            .gpus = row.gpus},
              .disk_gib = row.disk_gib,
              .price = std::llround(row.dollars * kMicros),
              .successor = row.successor};
    size.low_priority_price = size.price / kLowPriorityShare;
    const auto* family = std::ranges::find(kFamilies, size.family, &Family::name);
    if (family == std::end(kFamilies)) return size;
    size.retired_on = family->retired_on;
    if (!family->regions.empty()) size.regions = RegionSet::of(family->regions);
    return size;
}

}  // namespace

const std::vector<Size>& size_catalogue() {
    static const std::vector<Size> catalogue = [] {
        std::vector<Size> sizes;
        for (const Row& row : kRows) sizes.push_back(to_size(row));
        return sizes;
    }();
    return catalogue;
}

}  // namespace lavant
