import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ARCHITECTURE } from '../programs/tools.ts'
import { run } from '../servers/run.ts'

interface ImageSource {
  /** It is `localhost/NAME:1` in the node, and NAME:1, which a registry need not be asked for then. */
  name: string
  /** The folder of its files. */
  root: string
  /** Of the OCI image configuration: what runs, as whom, with which environment. */
  config: Record<string, unknown>
  env: Record<string, string | undefined>
}

/** Flags of tar(1): the same files give the same bytes, whoever packs them and whenever. */
export const SAME_BYTES = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--format=gnu']

/** Packs a folder as an image of one layer, in the form that `docker save` writes and `ctr images import` reads. */
export async function packImage({ name, root, config, env }: ImageSource, into: string): Promise<void> {
  const work = join(into, `${name}.packing`)
  mkdirSync(work)
  const layer = join(work, 'layer.tar')
  await run('tar', ['--create', ...SAME_BYTES, '--file', layer, '--directory', root, '.'], { env })
  const digest = createHash('sha256').update(readFileSync(layer)).digest('hex')
  const rootfs = { type: 'layers', diff_ids: [`sha256:${digest}`] }
  writeFileSync(join(work, 'config.json'), JSON.stringify({ architecture: ARCHITECTURE, os: 'linux', config, rootfs }))
  const manifest = [{ Config: 'config.json', RepoTags: [`localhost/${name}:1`, `${name}:1`], Layers: ['layer.tar'] }]
  writeFileSync(join(work, 'manifest.json'), JSON.stringify(manifest))
  await run('tar', ['--create', ...SAME_BYTES, '--file', join(into, `${name}.tar`), '--directory', work, '.'], { env })
  rmSync(work, { recursive: true })
}
