/** Of whom a row keeps as who made it. */
interface Created {
  /** Null: the command line. */
  creator_id: string | null
  creator_name: string
  creator_thumbprint: string | null
}

/** As answers say it: null where it was nobody with a key pair. */
export const presentCreator = (row: Created) =>
  row.creator_id === null
    ? null
    : { id: row.creator_id, name: row.creator_name, email_address: null, thumbprint: row.creator_thumbprint }
