import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { removeFolder, takeFolder } from '../../../src/adapters/control-plane/servers/folder.ts'
import { describe } from '../../support/suite.ts'

describe('the folder of an installation', (it) => {
  const home = mkdtempSync(join(tmpdir(), 'berth-folder-'))
  it.after(() => rmSync(home, { recursive: true }))

  const foreign = (name: string): string => {
    const dir = join(home, name)
    mkdirSync(join(dir, 'letters'), { recursive: true, mode: 0o755 })
    writeFileSync(join(dir, 'letters', 'mine.txt'), 'keep me')
    return dir
  }

  it('is taken when it is new or empty, and again later, and goes whole', () => {
    const dir = join(home, 'new')
    takeFolder(dir)
    writeFileSync(join(dir, 'etcd'), 'data')
    takeFolder(dir)
    assert.is(statSync(dir).mode & 0o777, 0o700)
    removeFolder(dir)
    assert.not.ok(existsSync(dir))
  })

  it("is refused when somebody else's files are in it, and nothing of it changes", () => {
    const dir = foreign('taken')
    const { mode } = statSync(dir)
    assert.throws(() => takeFolder(dir), /holds things that are not Berth's \("letters"/)
    assert.is(statSync(dir).mode, mode)
  })

  it('is not removed unless Berth made it', () => {
    const dir = foreign('kept')
    assert.throws(() => removeFolder(dir), /was not made by Berth, so nothing in it is removed/)
    assert.is(readFileSync(join(dir, 'letters', 'mine.txt'), 'utf8'), 'keep me')
  })

  it('goes with the links in it, and without what they lead to', () => {
    const dir = join(home, 'linked')
    takeFolder(dir)
    symlinkSync(foreign('linked to'), join(dir, 'link'))
    removeFolder(dir)
    assert.not.ok(existsSync(dir))
    assert.is(readFileSync(join(home, 'linked to', 'letters', 'mine.txt'), 'utf8'), 'keep me')
  })

  it('may be gone already', () => {
    removeFolder(join(home, 'never-was'))
  })
})
