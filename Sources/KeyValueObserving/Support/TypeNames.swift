// The names of types, each asked for once.

/// The names of types, without their modules.
///
/// Swift's runtime takes a lock of its own for each name, which a child of a fork may find locked for ever. So registrations ask for a name
/// that is known already.
enum TypeNames {
  private static let known = Guarded<[ObjectIdentifier: String]>([:])

  static func name(of type: Any.Type) -> String {
    let id = ObjectIdentifier(type)
    if let name = known.withLock({ $0[id] }) { return name }
    let name = _typeName(type, qualified: false)
    known.withLock { $0[id] = name }
    return name
  }
}
