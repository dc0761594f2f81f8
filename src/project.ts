import type { TSchema } from 'typebox'

type Project = (value: unknown) => unknown
interface Node {
  properties?: Record<string, Node>
  required?: string[]
  items?: Node
  anyOf?: Node[]
}

/**
 * A function that keeps of a value what its schema names, and nothing else: for text that is stored now and sent later,
 * when no serializer stands between.
 */
export function createProjection<Value>(schema: TSchema): (value: Value) => Value {
  return build(schema as Node) as (value: Value) => Value
}

function build(node: Node): Project {
  const { properties, items, anyOf } = node
  if (anyOf) {
    const shape = anyOf.find((branch) => branch.properties ?? branch.items)
    return shape ? build(shape) : (value) => value
  }
  if (items) {
    const item = build(items)
    return (value) => (Array.isArray(value) ? value.map(item) : value)
  }
  // An object without named properties is open by its schema.
  if (!properties) return (value) => value
  const fields = Object.entries(properties).map(([name, property]) => [name, build(property)] as const)
  return (value) => {
    if (typeof value !== 'object' || value === null) return value
    const kept: Record<string, unknown> = {}
    for (const [name, project] of fields) {
      const field = (value as Record<string, unknown>)[name]
      if (field !== undefined) kept[name] = project(field)
    }
    return kept
  }
}
