// The exact expansion of a common declaration, and the implicit initializers. MacroUsageTests compile and run the others.
// swift-format-ignore-file
#if Macros
  import Testing

  @Suite struct `Expansions` {
    @Test func `A stored property of a final class expands to a header, a listing, accessors and a storage`() {
      expectExpansion(
        of: #"""
          @KeyValueObservable
          public final class Document {
            public private(set) var title = ""
          }
          """#,
        is: #"""
          public final class Document {
            public private(set) var title {
              @storageRestrictions(initializes: _title)
              init(initialValue) {
                _title = initialValue
              }
              get {
                if _$kvo.isTracking {
                  KeyValueObserving.KeyValueObservationHeader.recordRead(self, 0xda31296c0c1b6029)
                }
                return _title
              }
              set {
                guard _$kvo.isObserved else {
                  _title = newValue
                  _$kvo.stored(0xda31296c0c1b6029, {
                      self._title
                    })
                  return
                }
                _$kvo.change(0xda31296c0c1b6029, newValue, {
                    $0(&self._title)
                  }, {
                    self._title
                  }, {
                    self._title = newValue
                  })
              }
              _modify {
                let __kvoChange = _$kvo.isObserved ? _$kvo.beginChange(0xda31296c0c1b6029, {
                    self._title
                  }) : nil
                defer {
                  __kvoChange?.finish({
                      self._title
                    })
                }
                yield &_title
              }
            }

            @safe @exclusivity(unchecked) private var _title = ""

            public nonisolated let _$kvo = KeyValueObserving.KeyValueObservationHeader()

            @safe public nonisolated var __keyValueObject: KeyValueObserving.KeyValueObjectReference {
              _$kvo.reference
            }

            public class func __keyValueProperties<__Root: Document>(_: __Root.Type, _ description: KeyValueObserving.KeyValueClassDescription) {
              description.observed("title", 0xda31296c0c1b6029, \__Root.title, \__Root?.?.title, get: {
                  $0.title
                }, inPlace: {
                  $1(&$0.title)
                }, set: {
                  $0.title = $1
                })
            }

            private class func __describeOwnDocument(_ description: KeyValueObserving.KeyValueClassDescription) {
              __keyValueProperties(Self.self, description.__of(Document.self))
            }

            public nonisolated class func __describeKeyValueProperties(_ description: KeyValueObserving.KeyValueClassDescription) {
              KeyValueObserving.KeyValueClassDescription.__nonisolated(__describeOwnDocument)(description)
            }
          }

          extension Document: nonisolated KeyValueObserving.KeyValueObservable, nonisolated KeyValueObserving._KeyValueObservableClass {
          }
          """#)
    }
  }

  @Suite struct ImplicitInitializers {
    /// Returns whether the macro adds `init()` to a class with declared coding keys.
    private func isAdded(to heading: String, _ members: String, conforming: Set<String> = []) -> Bool {
      let source = """
        @KeyValueObservable
        \(heading) {
          \(members)
          enum CodingKeys: CodingKey { case size }
        }
        """
      let text = expansion(of: source, conforming: conforming.union(["Encodable", "Decodable"]))
      #expect(text.contains("required init(from decoder:") != text.contains("init(from decoder: any Decoder)"))
      return text.contains("  init() {\n")
    }

    @Test(arguments: [
      "var size = 1", "var size: Int?", "var size: Int!", "var size = 1\n@NotObserved var other: Int?",
      "var size = 1\nlet other = 2", "var size = 1\nlazy var other = 2", "var size = 1\nvar other: Int { 2 }",
      "var size = 1\nstatic var other: Int", "var size = 1\nconvenience init(other: Int) { self.init() }",
      "var size = 1\n@NotObserved @Wrapper var other = 2",
    ])
    func `An init() is added that Swift would add but for the generated decoding`(members: String) {
      #expect(isAdded(to: "final class Note: Codable", members))
      #expect(isAdded(to: "public class Note<Value>: @unchecked Sendable, Model, Swift.Codable", members))
    }

    @Test(arguments: [
      "var size: Int", "var size = 1\nlet other: Int", "var size = 1\nlet other: Int?", "var size: Optional<Int>",
      "var size = 1\n@NotObserved @Wrapper var other: Int?", "var size = 1\ninit(other: Int) {}",
      "var size = 1\nprivate init() {}", "var size = 1\nconvenience init() { self.init(other: 1) }",
      "var size = 1\n#if DEBUG\ninit() {}\n#endif", "var size = 1\n#if DEBUG\nlet other: Int\n#endif",
      "var size = 1\ninit(from decoder: any Decoder) {}",
    ])
    func `No init() is added where a property needs a value, or an initializer is written`(members: String) {
      #expect(!isAdded(to: "final class Note: Codable", members))
    }

    @Test func `No init() is added to a class that may have a superclass`() {
      for heading in ["NSObject, Codable", "Model, Codable", "Base<Codable>, Codable"] {
        #expect(!isAdded(to: "class Note: \(heading)", "var size = 1"))
      }
      #expect(!isAdded(to: "class Note: Base, Codable", "var size = 1", conforming: ["_KeyValueObservableClass"]))
    }
  }
#endif
