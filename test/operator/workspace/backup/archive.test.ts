import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, ok } from 'uvu/assert'
import { ARCHIVE_SCRIPT, RESTORE_SCRIPT } from '../../../../src/operator/workspace/desired/archive.ts'
import { describe } from '../../../support/suite.ts'

describe('workspace: archives', (it) => {
  const folders: string[] = []
  it.after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  function place() {
    const root = mkdtempSync(join(tmpdir(), 'archive-'))
    folders.push(root)
    const volume = join(root, 'a volume')
    const archives = join(root, 'archives')
    const fresh = join(root, 'fresh')
    for (const folder of [join(volume, 'projects/web'), join(volume, 'home'), archives, fresh])
      mkdirSync(folder, { recursive: true })
    writeFileSync(join(volume, 'projects/web/main.ts'), 'one')
    const archive = (name: string, keep = 2) =>
      spawnSync('sh', ['-c', ARCHIVE_SCRIPT, name, volume, archives, String(keep)], { encoding: 'utf8' })
    const restore = (name: string) => spawnSync('sh', ['-c', RESTORE_SCRIPT, name, archives, fresh], { encoding: 'utf8' })
    return { volume, archives, fresh, archive, restore }
  }

  it('bring a volume back, once, also where an empty folder is already', () => {
    const { volume, fresh, archive, restore } = place()
    writeFileSync(join(volume, '.hidden'), 'too')
    equal([archive('first').status, archive('first').stderr], [0, ''])
    mkdirSync(join(fresh, 'projects'))
    equal([restore('first').status, restore('first').stderr], [0, ''])
    is(readFileSync(join(fresh, 'projects/web/main.ts'), 'utf8'), 'one')
    is(readFileSync(join(fresh, '.hidden'), 'utf8'), 'too')
    writeFileSync(join(fresh, 'projects/web/main.ts'), 'mine')
    is(restore('first').status, 0)
    is(readFileSync(join(fresh, 'projects/web/main.ts'), 'utf8'), 'mine')
  })

  it('are as many as are kept, the oldest go first', () => {
    const { archives, archive } = place()
    for (const [age, name] of ['one', 'two', 'three'].entries()) {
      archive(name, 3)
      utimesSync(join(archives, `${name}.tar.gz`), 1000 + age, 1000 + age)
    }
    is(archive('four', 2).status, 0)
    equal(readdirSync(archives).sort(), ['four.tar.gz', 'three.tar.gz'])
  })

  it('are whole or not there', () => {
    const { volume, archives, fresh, archive, restore } = place()
    rmSync(volume, { recursive: true })
    ok(archive('broken').status !== 0)
    equal(readdirSync(archives), [])
    ok(restore('broken').status !== 0)
    ok(!existsSync(join(fresh, '.berth-restored')))
  })
})
