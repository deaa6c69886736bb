/**
 * Files that flags name: certificates with their keys, which are renewed while a program runs, tokens, and authorities. What cannot be
 * read is told with its flag. Not here: kubeconfigs (adapters/kube), and files of people at a terminal (cli).
 */
export { type KeyFiles, openKeys } from './keys.ts'
export { readNamed, readOptional, tokenOf } from './named.ts'
