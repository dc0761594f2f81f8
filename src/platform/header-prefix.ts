/** Of the merchant account header and the webhook headers, unless FLORIN_HEADER_PREFIX says otherwise. */
export const defaultHeaderPrefix = 'X-Service-'
