// Copies the state of /proc into the model. It prints nothing; observers of the model do.
import KeyValueObserving

package final class Sampler {
  package let host: Machine
  package let folder: ProcFolder
  /// The process that becomes the host's spotlight when it appears.
  package var spotlightPID: Int32?
  /// The number of property sets.
  package private(set) var sets = 0
  /// Whether any file could be read.
  package private(set) var hasRead = false
  private var reported: Set<String> = []
  /// The ticks of all cores since the last sample; nil if unknown.
  private var elapsedTicks: UInt64?

  package init(_ host: Machine, folder: ProcFolder) {
    self.host = host
    self.folder = folder
  }

  package func sample() {
    read("sys/kernel/hostname", hostname) { set(host, \.name, to: $0) }
    read("uptime", uptime(of:)) { set(host, \.uptime, to: $0) }
    read("loadavg", LoadAverages.init(loadavg:)) { set(host, \.load, to: $0) }
    read("meminfo", MemoryFigures.init(meminfo:), update)
    elapsedTicks = nil
    read("stat", CPUTicks.cores(stat:), update)
    sampleProcesses()
    set(host, \.samples, to: host.samples + 1)
  }

  // All sets go through this function, so that the count is right.
  func set<Root: AnyObject, Value>(_ object: Root, _ path: ReferenceWritableKeyPath<Root, Value>, to value: Value) {
    object[keyPath: path] = value
    sets += 1
  }

  func noteRead() { hasRead = true }

  /// Reports a problem once, even if it occurs again; processes share one report.
  func tell(_ error: ProcError, as path: String? = nil) {
    let file = path ?? error.path
    let path = file.isEmpty ? folder.path : folder.path + "/" + file
    if reported.insert(path).inserted { host.add(Problem(path: path, reason: error.reason)) }
  }

  /// Returns the fraction of the machine's CPU time for a number of ticks.
  func share(of ticks: UInt64) -> Double {
    guard let elapsedTicks, elapsedTicks > 0 else { return 0 }
    return min(1, Double(ticks) / Double(elapsedTicks))
  }

  private func read<Value>(_ path: String, _ parse: (String) -> Value?, _ use: (Value) -> Void) {
    do throws(ProcError) {
      guard let value = parse(try folder.text(of: path)) else { throw ProcError(malformed: path) }
      hasRead = true
      use(value)
    } catch {
      tell(error)
    }
  }

  private func hostname(_ text: String) -> String? {
    let name = text.prefix { !$0.isNewline }
    return name.isEmpty ? nil : String(name)
  }

  private func update(_ figures: MemoryFigures) {
    guard let memory = host.memory else { return set(host, \.memory, to: Memory(figures)) }
    set(memory, \.total, to: figures.total)
    set(memory, \.available, to: figures.available)
  }

  private func update(_ cores: [Int: CPUTicks]) {
    // Cores are rarely added or removed. The remaining ones keep their objects, and therefore their observers.
    if Set(host.cpus.map(\.core)) != Set(cores.keys) {
      let known = Dictionary(host.cpus.map { ($0.core, $0) }, uniquingKeysWith: { first, _ in first })
      let cpus = cores.sorted { $0.key < $1.key }.map { known[$0.key] ?? CPU(core: $0.key, ticks: $0.value) }
      set(host, \.cpus, to: cpus)
    }
    var elapsed: UInt64 = 0
    for cpu in host.cpus {
      guard let ticks = cores[cpu.core] else { continue }
      if let spent = ticks.since(cpu.ticks), spent.total > 0 {
        elapsed &+= spent.total
        set(cpu, \.busyFraction, to: Double(spent.busy) / Double(spent.total))
      }
      cpu.ticks = ticks
    }
    elapsedTicks = elapsed
  }
}
