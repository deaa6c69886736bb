import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { whyNoNode } from '../../src/adapters/control-plane/index.ts'
import { forMachine, forPods, listenAddressOf, portsIn } from '../../src/cli/local/network.ts'
import { nodeFor } from '../../src/cli/local/node.ts'
import { portOf } from '../support/addresses.ts'
import { failureOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { shellOf } from './berth.ts'

describe('the network of a local installation', (it) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'berth-network-')))
  it.after(() => rmSync(root, { recursive: true }))

  it('takes another port in the place of one that somebody else has', async () => {
    const first = await portsIn(root, true)
    assert.is(new Set(Object.values(first)).size, 7)
    const other = createServer().listen(first.kas, '127.0.0.1')
    await once(other, 'listening')
    try {
      const { kas } = await portsIn(root, true)
      assert.is.not(kas, portOf(other))
    } finally {
      other.close()
    }
  })

  it('is open to pods where pods are to reach it, and to this machine alone elsewhere', () => {
    const alone = { hasNode: false, enter: [], ports: { git: 2000 } }
    const node = { hasNode: true, enter: ['nsenter'], ports: { git: 2000, operator: 2001 } }
    assert.equal(listenAddressOf(alone, 'git'), { host: '127.0.0.1', port: 2000 })
    assert.equal(listenAddressOf(alone, 'kas'), { host: '127.0.0.1', port: 0 })
    assert.equal(listenAddressOf(node, 'git'), { host: '0.0.0.0', port: 2000 })
    assert.equal(listenAddressOf(node, 'operator'), { host: '127.0.0.1', port: 2001 })
    assert.is(forMachine('http://0.0.0.0:2000'), 'http://127.0.0.1:2000')
    assert.is(forPods(node, 'http://127.0.0.1:2000'), 'http://10.244.0.1:2000')
    assert.is(forPods(alone, 'http://127.0.0.1:2000'), 'http://127.0.0.1:2000')
  })
})

describe('the node of a local installation', (it) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'berth-nodes-')))
  it.after(() => rmSync(root, { recursive: true }))
  const given = (name: string, ...folders: string[]) => {
    const dir = join(root, name)
    for (const folder of folders) mkdirSync(join(dir, folder), { recursive: true })
    const lines: string[] = []
    const report = { line: (text: string) => lines.push(text), progress: () => undefined }
    const shell = shellOf({ env: { XDG_CACHE_HOME: root } })
    return { lines, node: (node?: 'if-possible' | 'if-cached') => nodeFor({ shell, dir, report, node }) }
  }

  it('is not made where nobody asked for it, which is said in a line', async () => {
    const { lines, node } = given('new')
    assert.is(await node(), undefined)
    assert.equal(lines, [])
    assert.is(await node('if-cached'), undefined)
    const why = await whyNoNode()
    const told = why ?? '`--node` makes a real node, whose programs take some minutes the first time'
    assert.equal(lines, [`Pods are simulated: ${told}.`])
  })

  it('is refused in a folder whose nodes are simulated, and left out of it without a word', async () => {
    const { lines, node } = given('simulated', 'etcd')
    assert.is(await node('if-cached'), undefined)
    assert.equal(lines, [])
    const { message, remedy } = await failureOf(() => node('if-possible'))
    assert.match(message, /^--node: the nodes in .* are simulated$/)
    assert.match(remedy ?? '', 'berth down --dir')
  })
})
