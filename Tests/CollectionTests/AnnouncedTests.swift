// Manually announced elements of computed properties, as in classes with handwritten accessors for private storage.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  @Suite("Announcing elements of a computed property")
  struct AnnouncedTests {
    let library = Library()
    let log = Log()

    private func insert(_ line: String, at position: Int) {
      library.willChange(.insertion, valuesAt: [position], forKey: "lines")
      library.lineStorage.insert(line, at: position)
      library.didChange(.insertion, valuesAt: [position], forKey: "lines")
    }

    private func remove(at position: Int) {
      library.willChange(.removal, valuesAt: [position], forKey: "lines")
      library.lineStorage.remove(at: position)
      library.didChange(.removal, valuesAt: [position], forKey: "lines")
    }

    @Test func `Observers of the property receive kind, indexes and elements, with typed and string key paths`() {
      let token = library.log(\.lines, to: log)
      let recorder = ClassicRecorder(log)
      library.addObserver(recorder, forKeyPath: "lines", options: [.old, .new])
      insert("a", at: 0)
      insert("b", at: 1)
      remove(at: 0)
      library.removeObserver(recorder, forKeyPath: "lines")
      token.invalidate()
      #expect(
        log.lines == [
          "lines 2 [0] ->[\"a\"]", "insertion [0] ->[\"a\"]", "lines 2 [1] ->[\"b\"]", "insertion [1] ->[\"b\"]",
          "lines 3 [0] [\"a\"]>-", "removal [0] [\"a\"]>-",
        ])
    }

    @Test func `Observers of a path that ends there receive them too`() {
      let root = Library()
      root.branch = library
      let recorder = ClassicRecorder(log)
      root.addObserver(recorder, forKeyPath: "branch.lines", options: [.old, .new, .prior])
      insert("a", at: 0)
      remove(at: 0)
      root.branch = nil
      root.removeObserver(recorder, forKeyPath: "branch.lines")
      #expect(
        log.lines.filter { !$0.contains("prior") } == [
          "branch.lines 2 [0] ->[\"a\"]", "branch.lines 3 [0] [\"a\"]>-", "branch.lines 1 []><null>",
        ])
      #expect(log.lines.filter { $0.contains("prior") }.count == 3)
    }

    @Test func `A change of the whole value is a setting, with the values of the getter`() {
      let token = library.log(\.lines, to: log)
      library.willChangeValue(forKey: "lines")
      library.lineStorage = ["x"]
      library.didChangeValue(forKey: "lines")
      insert("y", at: 1)
      token.invalidate()
      #expect(log.lines == ["setting []>[\"x\"]", "insertion [1] ->[\"y\"]"])
    }

    @Test func `Set mutations deliver added and removed members`() {
      let token = library.log(\.marks, to: log)
      library.markStorage = [1]
      library.willChangeValue(forKey: "marks", withSetMutation: .union, using: [1, 2])
      library.markStorage.formUnion([1, 2])
      library.didChangeValue(forKey: "marks", withSetMutation: .union, using: [1, 2])
      token.invalidate()
      #expect(log.lines == ["insertion ->{2}"])
    }

    @Test func `An observer registered within the pair is first notified of the next change`() {
      library.willChange(.insertion, valuesAt: [0], forKey: "lines")
      let early = library.log(\.lines, as: "early ", to: log)
      library.lineStorage.insert("a", at: 0)
      library.didChange(.insertion, valuesAt: [0], forKey: "lines")
      library.willChange(.insertion, valuesAt: [1], forKey: "lines")
      let late = library.log(\.lines, as: "late ", to: log)
      library.lineStorage.append("b")
      library.didChange(.insertion, valuesAt: [1], forKey: "lines")
      insert("c", at: 2)
      early.invalidate()
      late.invalidate()
      #expect(
        log.lines == ["early insertion [1] ->[\"b\"]", "late insertion [2] ->[\"c\"]", "early insertion [2] ->[\"c\"]"])
      #expect(library.observationInfo == nil)
    }
  }
#endif
