import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, ok } from 'uvu/assert'
import { HOME_SCRIPT } from '../../../../src/operator/workspace/desired/home.ts'
import { describe } from '../../../support/suite.ts'

describe('workspace: the home that lasts', (it) => {
  const folders: string[] = []
  it.after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  /** An image's home and a volume; `bring` is what the init container does. */
  function place(home = 'home of; $(touch gone) "it"') {
    const root = mkdtempSync(join(tmpdir(), 'home-'))
    folders.push(root)
    const from = join(root, home)
    const volume = join(root, 'volume')
    for (const folder of [from, volume]) mkdirSync(folder)
    const bring = (shell = 'sh') =>
      spawnSync(shell, ['-c', HOME_SCRIPT, 'berth-home', from, volume], { cwd: root, encoding: 'utf8' })
    return { root, from, volume, home: join(volume, 'home'), bring }
  }

  for (const shell of ['dash', 'bash'])
    it(`is what the image has, for anybody of the group, links too (${shell})`, () => {
      const { root, from, home, bring } = place()
      mkdirSync(join(from, '.config'))
      writeFileSync(join(from, '.config/tool'), 'set')
      chmodSync(join(from, '.config/tool'), 0o600)
      symlinkSync('.config/tool', join(from, '.tool'))
      const { status, stderr } = bring(shell)
      equal([status, stderr], [0, ''])
      is(readFileSync(join(home, '.tool'), 'utf8'), 'set')
      is(readlinkSync(join(home, '.tool')), '.config/tool')
      is(statSync(join(home, '.config/tool')).mode & 0o777, 0o660)
      ok(!existsSync(join(root, 'gone')))
    })

  it('is brought once, and never over what is there', () => {
    const { from, home, bring } = place()
    writeFileSync(join(from, '.profile'), 'first')
    bring()
    writeFileSync(join(home, '.profile'), 'mine')
    writeFileSync(join(from, '.profile'), 'second')
    writeFileSync(join(from, '.other'), 'new')
    is(bring().status, 0)
    is(readFileSync(join(home, '.profile'), 'utf8'), 'mine')
    ok(!existsSync(join(home, '.other')))
  })

  it('is brought anew where the one before was not whole', () => {
    const { from, home, volume, bring } = place()
    mkdirSync(join(volume, 'home.part'))
    writeFileSync(join(volume, 'home.part/half'), '')
    writeFileSync(join(from, 'whole'), '')
    is(bring().status, 0)
    ok(existsSync(join(home, 'whole')))
    ok(!existsSync(join(home, 'half')))
    ok(!existsSync(join(volume, 'home.part')))
  })

  it('is empty where the image has none, and says so where the volume cannot be written', () => {
    const { from, home, volume, bring } = place()
    rmSync(from, { recursive: true })
    is(bring().status, 0)
    ok(existsSync(home))
    rmSync(volume, { recursive: true })
    const failed = bring()
    is(failed.status, 1)
    ok(failed.stderr.includes('to the volume: the volume cannot be written'), failed.stderr)
  })
})
