import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
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

  const own = { hasApiServer: true }
  const fileIn = (dir: string) => join(dir, 'ports.json')

  it('has the same ports at each start, each another one, and a new one only for what the file leaves out', async () => {
    const first = await portsIn(root, own)
    assert.is(new Set([first.apiServer, ...Object.values(first.listeners)]).size, 8)
    assert.equal(await portsIn(root, own), first)
    const { webhooks, ...others } = JSON.parse(readFileSync(fileIn(root), 'utf8'))
    assert.is(webhooks, first.listeners.webhooks)
    writeFileSync(fileIn(root), JSON.stringify(others))
    const again = await portsIn(root, own)
    assert.equal({ ...again.listeners, webhooks }, first.listeners)
    assert.ok(again.listeners.webhooks > 0)
  })

  it('says of a port that is taken what it is for, who has it, and what can be done', async () => {
    const { listeners } = await portsIn(root, own)
    const other = createServer().listen(listeners.kas, '127.0.0.1')
    await once(other, 'listening')
    try {
      const { code, message, remedy } = await failureOf(() => portsIn(root, own))
      assert.is(code, 'unavailable')
      const holder = `process ${process.pid} (node in ${process.cwd()})`
      assert.is(message, `port ${portOf(other)} of kas, for agents is taken by ${holder}`)
      assert.match(remedy ?? '', `take "kas" out of ${fileIn(root)} for a new port: what names the old one has to follow.`)
    } finally {
      other.close()
    }
    assert.equal((await portsIn(root, own)).listeners, listeners, 'it is the same when it is free again')
  })

  it('names the Berth of another folder that has its ports', async () => {
    const { apiServer } = await portsIn(root, own)
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'berth-other-')))
    writeFileSync(join(dir, '.berth-folder'), '')
    const script = `require('net').createServer().listen(${apiServer}, '127.0.0.1', () => console.log('up'))`
    const child = spawn(process.execPath, ['-e', script], { cwd: dir, stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      await once(child.stdout, 'data')
      const { message, remedy } = await failureOf(() => portsIn(root, own))
      assert.is(message, `port ${apiServer} of the API server is taken by process ${child.pid} (node in ${dir})`)
      assert.match(remedy ?? '', `End it with \`berth down --dir ${dir}\``)
      assert.ok(await portsIn(root, { hasApiServer: false }), 'beside a cluster that is there it has no use for it')
    } finally {
      child.kill('SIGKILL')
      await once(child, 'exit')
      rmSync(dir, { recursive: true })
    }
  })

  it('chooses no other ports where those of the folder cannot be read', async () => {
    const before = readFileSync(fileIn(root), 'utf8')
    for (const text of [
      '{"git": 20000',
      '{"git": "20000"}',
      '{"git": 20000, "kas": 20000}',
      '{"gti": 20000}',
      '{"git": 99999}',
    ]) {
      writeFileSync(fileIn(root), text)
      const { code, message, remedy } = await failureOf(() => portsIn(root, own))
      assert.is(code, 'invalid', text)
      assert.is(message, `${fileIn(root)} is not JSON with ports, each another one`)
      assert.match(remedy ?? '', 'It has api-server, git, kas,')
      assert.is(readFileSync(fileIn(root), 'utf8'), text)
    }
    writeFileSync(fileIn(root), before)
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
