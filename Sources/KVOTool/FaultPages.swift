// The pages of Documentation/Faults, in the program: the package embeds the files.
#if Macros
  package enum FaultPages {
    /// By number, in the order of the codes.
    package static let all: [(number: Int, text: String)] = bytes.map { ($0, String(decoding: $1, as: UTF8.self)) }

    private static let bytes: KeyValuePairs<Int, [UInt8]> = [
      1: PackageResources.KVO0001_md,
      2: PackageResources.KVO0002_md,
      3: PackageResources.KVO0003_md,
      4: PackageResources.KVO0004_md,
      5: PackageResources.KVO0005_md,
      6: PackageResources.KVO0006_md,
      7: PackageResources.KVO0007_md,
      8: PackageResources.KVO0008_md,
      9: PackageResources.KVO0009_md,
      10: PackageResources.KVO0010_md,
      11: PackageResources.KVO0011_md,
      12: PackageResources.KVO0012_md,
      13: PackageResources.KVO0013_md,
      14: PackageResources.KVO0014_md,
      15: PackageResources.KVO0015_md,
      16: PackageResources.KVO0016_md,
      17: PackageResources.KVO0017_md,
      18: PackageResources.KVO0018_md,
      19: PackageResources.KVO0019_md,
      20: PackageResources.KVO0020_md,
      21: PackageResources.KVO0021_md,
      22: PackageResources.KVO0022_md,
      23: PackageResources.KVO0023_md,
      24: PackageResources.KVO0024_md,
      25: PackageResources.KVO0025_md,
      26: PackageResources.KVO0026_md,
      27: PackageResources.KVO0027_md,
      28: PackageResources.KVO0028_md,
      29: PackageResources.KVO0029_md,
      30: PackageResources.KVO0030_md,
      31: PackageResources.KVO0031_md,
      32: PackageResources.KVO0032_md,
      33: PackageResources.KVO0033_md,
      34: PackageResources.KVO0034_md,
      35: PackageResources.KVO0035_md,
      36: PackageResources.KVO0036_md,
      37: PackageResources.KVO0037_md,
      38: PackageResources.KVO0038_md,
      39: PackageResources.KVO0039_md,
      40: PackageResources.KVO0040_md,
    ]
  }
#endif
