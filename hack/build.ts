/** Compiles src/ into dist/, of which nothing older stays: `npm run build`, and before each `npm pack`. */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

rmSync(join(ROOT, 'dist'), { recursive: true, force: true })
execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', join(ROOT, 'tsconfig.build.json')], { stdio: 'inherit' })
