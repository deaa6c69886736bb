import type { GitOpsDeployment } from '../../api/index.ts'
import { harmlessLine } from '../../std/index.ts'
import { type FindingMark, marked, WIDTH, wrap } from '../output.ts'
import type { Paint } from '../shell.ts'

/** An object of a deployment, or one that belongs to such an object. */
export interface TreeNode {
  group: string
  kind: string
  namespace: string
  name: string
  /** Synced or OutOfSync; of what is not from the repository nothing. */
  sync?: string
  health: string
  /** Fields that differ from the repository, as JSON pointers. */
  drift: string[]
  message?: string
  /** When in a sync it runs, where it is a hook. */
  hook?: string
  children: TreeNode[]
}

/** Finds the objects that an object owns. */
export type Children = (owner: Pick<TreeNode, 'group' | 'kind' | 'namespace' | 'name'>) => TreeNode[]

/** Pure. In the order in which people look for them: by namespace, kind and name. */
export function nodesOf({ status }: GitOpsDeployment, children: Children): TreeNode[] {
  const nodes = (status?.resources ?? []).map((resource): TreeNode => {
    const { group = '', kind, namespace = '', name, drift = [], health, message = health?.message, hook } = resource
    const id = { group, kind, namespace, name }
    return {
      ...id,
      sync: resource.status ?? 'Unknown',
      health: health?.status ?? 'Unknown',
      drift,
      ...(message !== undefined && { message }),
      ...(hook !== undefined && { hook }),
      children: children(id),
    }
  })
  return nodes.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
}

const sortKey = ({ namespace, kind, group, name }: TreeNode): string => [namespace, kind, group, name].join('\0')

const SYNC = 9
const HEALTH = 11
/** The object has the rest of a line. */
const OBJECT = WIDTH - SYNC - HEALTH - 4

/** One line for each object, notes below it; a line for each namespace where there is more than one. */
export function treeLines(nodes: readonly TreeNode[], paint: Paint): string[] {
  if (nodes.length === 0) return ['It has no objects.']
  const groups = Map.groupBy(nodes, ({ namespace }) => namespace)
  const width = Math.min(OBJECT, Math.max(...nodes.flatMap((node) => widths(node, 0))))
  const said = new Set<string>()
  const head = [row(['OBJECT', 'SYNC', 'HEALTH'], width)]
  for (const [namespace, members] of groups) {
    if (groups.size > 1) head.push('', harmlessLine(namespace === '' ? 'cluster-scoped' : `namespace ${namespace}`))
    for (const node of members) head.push(...nodeLines(sparing(node, said), { width, before: '', below: '' }, paint))
  }
  return head
}

/** A message that many objects have is written out once. */
function sparing(node: TreeNode, said: Set<string>): TreeNode {
  const { message } = node
  if (message === undefined || message.length < WIDTH) return node
  if (said.has(message)) return { ...node, message: 'as above' }
  said.add(message)
  return node
}

const titleOf = ({ group, kind, name }: TreeNode): string => harmlessLine(`${group ? `${kind}.${group}` : kind} ${name}`)

const widths = (node: TreeNode, depth: number): number[] => [
  titleOf(node).length + depth * 3,
  ...node.children.flatMap((child) => widths(child, depth + 1)),
]

interface Place {
  width: number
  /** The text before the object, and before the objects that belong to it. */
  before: string
  below: string
}

function nodeLines(node: TreeNode, { width, before, below }: Place, paint: Paint): string[] {
  const { sync = '', health, drift, message, hook, children } = node
  const cells = [cut(before + titleOf(node), width), harmlessLine(sync), harmlessLine(health)]
  const line = row(cells, width, (cell, at) => (at === 0 || cell.trim() === '' ? cell : marked(markOf(cell.trim()), cell, paint)))
  const bar = children.length > 0 ? '│  ' : '   '
  const notes = [
    ...(hook === undefined ? [] : [`${hook} hook`]),
    ...(drift.length > 0 ? [`differs in ${drift.join(', ')}`] : []),
    ...(message === undefined ? [] : [message]),
  ]
  const said = notes.flatMap((note) => wrap(note, WIDTH - below.length - 3)).map((text) => paint('dim', `${below}${bar}${text}`))
  const rest = children.flatMap((child, at) => {
    const isLast = at === children.length - 1
    return nodeLines(
      child,
      { width, before: `${below}${isLast ? '└─ ' : '├─ '}`, below: `${below}${isLast ? '   ' : '│  '}` },
      paint,
    )
  })
  return [line, ...said, ...rest]
}

function row(cells: string[], width: number, paint: (cell: string, at: number) => string = (cell) => cell): string {
  const padded = cells.map((cell, at) => cell.padEnd([width, SYNC, HEALTH][at] ?? 0))
  return padded.map(paint).join('  ').trimEnd()
}

/** The middle of a long name says the least. */
const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.ceil(width / 2) - 1)}…${text.slice(text.length - Math.floor(width / 2))}`

const GOOD = new Set(['Synced', 'Healthy'])
const BAD = new Set(['Degraded', 'Missing'])

const markOf = (word: string): FindingMark => (GOOD.has(word) ? 'ok' : BAD.has(word) ? 'fail' : 'warn')
